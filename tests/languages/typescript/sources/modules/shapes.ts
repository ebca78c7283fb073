export interface Square {
  kind: "square";
  side(): number;
  area(): number;
}
export interface Circle {
  kind: "circle";
  radius(): number;
  area(): number;
}
export type Shape = Square | Circle;
export function isSquare(shape: Shape): shape is Square {
  return shape.kind === "square";
}

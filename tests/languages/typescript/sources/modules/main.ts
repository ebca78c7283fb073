// What a star passes on, types beside JavaScript, unions told apart by a literal or a predicate of another file.
import main, { _private, isSquare, type Shape } from "./barrel";
import { load } from "./legacy";

export function run(shape: Shape): void {
  _private();
  // -> a.ts#_private [import]
  main();
  // -/> a.ts#main
  load().side();
  // -> legacy.js#load [import]
  // -> shapes.ts#Square.side
  if (isSquare(shape)) {
    shape.area();
    // -> shapes.ts#Square.area
    // -/> shapes.ts#Circle.area
  } else {
    shape.area();
    // -> shapes.ts#Circle.area
    // -/> shapes.ts#Square.area
  }
}

export function literal(shape: Shape): void {
  if (shape.kind === "circle") {
    shape.area();
    // -> shapes.ts#Circle.area
    // -/> shapes.ts#Square.area
  }
  if (shape.kind !== "circle") {
    shape.area();
    // -> shapes.ts#Square.area
    // -/> shapes.ts#Circle.area
    return;
  }
  shape.area();
  // -> shapes.ts#Circle.area
}

export function switched(shape: Shape): void {
  switch (shape.kind) {
    case "square":
      shape.area();
      // -> shapes.ts#Square.area
      // -/> shapes.ts#Circle.area
      break;
    case "circle":
      shape.area();
      // -> shapes.ts#Circle.area
      // -/> shapes.ts#Square.area
  }
}

export function both(shape: Shape): void {
  shape.area();
  // -> shapes.ts#Square.area
  // -> shapes.ts#Circle.area
}

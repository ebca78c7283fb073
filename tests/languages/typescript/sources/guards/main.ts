// Rows 20, 21: conditions narrow names and members of them; assertions, `in`, literals and enumerations too.
class A {
  ma(): void {}
  common(): void {}
  kind: "a" = "a";
}
class B {
  mb(): void {}
  common(): void {}
  kind: "b" = "b";
}
class Holder {
  item: A | B = new A();
  maybe?: A;
  run(): void {
    if (this.item instanceof A) {
      this.item.common();
      // -> main.ts#A.common
      // -/> main.ts#B.common
    } else {
      this.item.common();
      // -> main.ts#B.common
      // -/> main.ts#A.common
    }
    const x = this.item instanceof B ? this.item.common() : 0;
    // -> main.ts#B.common
    // -/> main.ts#A.common
    this.maybe?.ma();
    // -> main.ts#A.ma
    this.maybe!.common();
    // -> main.ts#A.common
  }
}
function isA(x: A | B): x is A {
  return "ma" in x;
}
function assertA(x: unknown): asserts x is A {}
export function f(x: A | B, y: unknown, z: A | B | undefined): void {
  if (isA(x)) {
    x.common();
    // -> main.ts#A.common
    // -/> main.ts#B.common
  } else x.common();
  // -> main.ts#B.common
  // -/> main.ts#A.common
  assertA(y);
  // -> main.ts#assertA
  y.common();
  // -> main.ts#A.common
  // -/> main.ts#B.common
  if (!z) return;
  switch (z.kind) {
    case "a":
      z.common();
      // -> main.ts#A.common
      // -/> main.ts#B.common
      break;
    case "b":
      z.common();
      // -> main.ts#B.common
      // -/> main.ts#A.common
  }
  if ("mb" in x) {
    x.common();
    // -> main.ts#B.common
    // -/> main.ts#A.common
  }
  if (typeof y === "function") y();
  const h = new Holder();
  if (h.item.kind === "b") {
    h.item.common();
    // -> main.ts#B.common
    // -/> main.ts#A.common
  }
  if (x instanceof A) return;
  x.common();
  // -> main.ts#B.common
  // -/> main.ts#A.common
}
type Shape = { kind: "circle"; run: Circle } | { kind: "square"; run: Square };
class Circle {
  area(): void {}
}
class Square {
  area(): void {}
}
export function shape(s: Shape): void {
  if (s.kind === "circle") {
    s.run.area();
    // -> main.ts#Circle.area
    // -/> main.ts#Square.area
  }
  const list: (A | B)[] = [];
  const only = list.filter(isA);
  for (const one of only) {
    one.common();
    // -> main.ts#A.common
    // -/> main.ts#B.common
  }
  list.find((x): x is B => x instanceof B)?.common();
  // -> main.ts#B.common
  // -/> main.ts#A.common
}

import { a } from "./a.js";
export * from "./a.js";
export function cyc(): void {
  a();
  // -> packages/core/src/a.ts#a
}

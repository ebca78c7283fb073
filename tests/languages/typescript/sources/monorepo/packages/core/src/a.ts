import { cyc } from "./c.js";
export function a(): void {
  cyc();
  // -> packages/core/src/c.ts#cyc
}
export * from "./c.js";

import { util } from "#util";
export * from "./a.js";
export { default as def, b as renamed } from "./b.js";
export * as ns from "./b.js";
export function core(): void {
  util();
  // -> packages/core/src/util.ts#util
}

// Row 7: a package of the workspace means its source, by its exports.
import { boot } from "@acme/core";
import { today } from "@acme/core/date";
import { boot as hidden } from "@acme/core/src/index";

export function main(): void {
  boot();
  // -> packages/core/src/index.ts#boot [import]
  today();
  // -> packages/core/src/date.ts#today [import]
  hidden();
  // -/> packages/core/src/index.ts#boot
}

// Row 6: aliases of the nearest configuration; a bare name that no alias matches stays outside.
import { start } from "@/core";
import { start as again } from "core";
import { start as alien } from "corelib";

export function run(): void {
  start();
  // -> src/core/index.ts#start [import]
  again();
  // -> src/core/index.ts#start [import]
  alien();
  // -/> src/core/index.ts#start
}

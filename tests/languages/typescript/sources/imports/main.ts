// Rows 2, 3, 5, 8: every form of import, and barrels; a re-export is never the target.
import tick, { now as current, later } from "./lib/clock.js";
import * as clock from "./lib/clock";
import { afterwards, text, tools, tick as renamed, now } from "./lib";
import anonymous from "./lib/text";
import type { Clock, Reading } from "./lib/clock";
import { type Reading as Shown } from "./lib";

export function run(device: Clock, reading: Reading, shown: Shown): void {
  tick();
  // -> lib/clock.ts#tick [import]
  current();
  // -> lib/clock.ts#now [import]
  later();
  // -> lib/clock.ts#later [import]
  clock.now();
  // -> lib/clock.ts#now [import]
  clock.default();
  // -> lib/clock.ts#tick [import]
  afterwards();
  // -> lib/clock.ts#later [import]
  // -/> lib/index.ts
  renamed();
  // -> lib/clock.ts#tick [import]
  now();
  // -> lib/clock.ts#now [import]
  text.tools.trim("");
  // -> lib/text.ts#tools.trim
  tools.trim("");
  // -> lib/text.ts#tools.trim
  anonymous("");
  // -> lib/text.ts#default [import]
  device.read();
  // -> lib/clock.ts#Clock.read [receiver_type]
  shown.value.toFixed(reading.value);
  // -/> lib/clock.ts#now
}

import { now } from "#clock";

export function boot(): number {
  return now();
  // -> packages/core/src/clock.ts#now [import]
}

export function now(): number {
  return 0;
}
export function later(): number {
  return now();
  // -> lib/clock.ts#now [lexical]
}
export default function tick(): void {}
export class Clock {
  read(): number {
    return now();
    // -> lib/clock.ts#now [lexical]
  }
}
export interface Reading {
  value: number;
}

import type { Square } from "./shapes";
export function load(): Square;

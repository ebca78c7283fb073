export const _private = (): void => {};
export default function main(): void {}
export type { Shape } from "./shapes";
export { isSquare } from "./shapes";

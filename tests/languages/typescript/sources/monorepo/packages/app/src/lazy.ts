export function lazy(): void {}
export default class Lazy {
  go(): void {}
}

export default class {
  go(): void {}
}
export const b = () => {};

export default () => {};
export function helper(): void {}
const helper2 = 1;

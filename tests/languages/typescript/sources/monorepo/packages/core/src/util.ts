export const util = (): void => {};

export const lazy = () => { here(); }
const here = () => {};

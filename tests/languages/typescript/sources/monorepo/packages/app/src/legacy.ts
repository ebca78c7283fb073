const api = {
  run(): void {},
};
export = api;

import { run, Service } from "./app";
describe("suite", () => {
  let service: Service;
  beforeEach(() => {
    service = new Service();
    // -> app.ts#Service
  });
  it("works", async () => {
    run();
    // -> app.ts#run
    service.go();
    // -> app.ts#Service.go
  });
  describe("inner", () => {
    const local = setup();
    // -> app.test.ts#setup
    test.each([[1], [2]])("case %s", (n) => {
      local.go();
      // -> app.ts#Service.go
    });
    it.only("x", function () {
      helper();
      // -> app.test.ts#helper
    });
  });
});
function setup(): Service {
  return new Service();
}
function helper(): void {
  run();
  // -> app.ts#run
}

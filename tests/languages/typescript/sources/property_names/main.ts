// A function that is the value of a property or variable goes by that name.
function helper(): void {}
function register(options: { onError: (e: Error) => void; nested: { onDone(): void } }): void {
  options.onError(new Error());
  // -> main.ts#onError
  options.nested.onDone();
  // -> main.ts#nested.onDone
}
register({
  onError: (e) => {
    helper();
    // -> main.ts#helper
  },
  nested: {
    onDone() {
      helper();
      // -> main.ts#helper
    },
  },
});
const table = [{ name: "a", run: () => helper() }, { name: "b", run: function () { helper(); } }];
// -> main.ts#helper
for (const entry of table) entry.run();
// -> main.ts#table.run
export const routes = {
  users: { list: () => helper(), create: async () => helper() },
  // -> main.ts#helper
};
routes.users.list();
// -> main.ts#routes.users.list
class Router {
  handlers = { get: () => helper() };
  constructor() {
    this.later = () => helper();
    // -> main.ts#helper
  }
  later: () => void;
  use(): void {
    this.handlers.get();
    // -> main.ts#Router.handlers.get
    this.later();
    // -> main.ts#Router.later
  }
}
const make = () => ({ go: () => helper() });
make().go();
// -> main.ts#make.go
const curried = (a: number) => (b: number) => helper();
// -> main.ts#helper
curried(1)(2);
// -> main.ts#curried
const cond = Math.random() > 1 ? () => helper() : () => {};
cond();
// -> main.ts#cond
const deb = debounce(() => helper(), 10);
// -> main.ts#helper
function debounce<F extends () => void>(f: F, ms: number): F {
  return f;
}
deb();
export const { pick = () => helper() } = { } as { pick?: () => void };

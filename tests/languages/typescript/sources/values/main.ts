// Rows 25 to 31, 36, 37: literals, spreads, closures, composition, emitters, decorators, casts.
class Db {
  query(): Row {
    return new Row();
  }
}
class Row {
  read(): void {}
}
function tag(strings: TemplateStringsArray, ...values: unknown[]): Row {
  return new Row();
}
tag`x ${helper()}`.read();
// -> main.ts#tag
// -> main.ts#helper
// -> main.ts#Row.read
function helper(): Db {
  return new Db();
}
function compose<A, B, C>(f: (a: A) => B, g: (b: B) => C): (a: A) => C {
  return (a) => g(f(a));
  // -> main.ts#stepA
  // -> main.ts#stepB
}
function stepA(x: number): Db {
  return new Db();
}
function stepB(d: Db): Row {
  return d.query();
  // -> main.ts#Db.query
}
compose(stepA, stepB)(1).read();
// -> main.ts#compose
// -> main.ts#Row.read
const counter = (() => {
  let n = helper();
  return {
    inc() {
      n.query();
      // -> main.ts#Db.query
    },
    get value() {
      return helper();
      // -> main.ts#helper
    },
  };
})();
counter.inc();
// -> main.ts#counter.inc
counter.value.query();
// -> main.ts#counter.value
// -> main.ts#Db.query
const base = { greet() { return new Row(); } };
const derived = { ...base, extra: helper };
derived.greet().read();
// -> main.ts#base.greet
// -> main.ts#Row.read
derived.extra().query();
// -> main.ts#helper
// -> main.ts#Db.query
function opts({ db = new Db(), row: { cell } = { cell: new Row() }, ...rest }: { db?: Db; row?: { cell: Row }; other?: Db } = {}) {
  db.query();
  // -> main.ts#Db.query
  cell.read();
  // -> main.ts#Row.read
  rest.other?.query();
  // -> main.ts#Db.query
}
opts();
// -> main.ts#opts
function log(_: unknown, __?: unknown): void {}
function sealed(c: Function): void {}
function route(path: string) {
  return function (target: unknown, key: string) {};
}
function inject() {
  return (t: unknown, k: unknown, i: number) => {};
}
@sealed
// -> main.ts#sealed
class Ctl {
  constructor(@inject() private db: Db) {}
  // -> main.ts#inject
  @route("/x")
  // -> main.ts#route
  list() {
    return this.db.query();
    // -> main.ts#Db.query
  }
  @log
  // -> main.ts#log
  field = helper();
  // -> main.ts#helper
}
const ops = { add: () => helper(), sub: () => helper() } as const;
function apply(name: keyof typeof ops) {
  return ops[name]();
  // -> main.ts#ops.add
  // -> main.ts#ops.sub
}
ops["add"]();
// -> main.ts#ops.add
// -/> main.ts#ops.sub
const cb = (f: () => Row) => f();
cb(() => new Row()).read();
// -> main.ts#cb
// -> main.ts#Row.read
class Emitter {
  private listeners: Record<string, Array<(d: Db) => void>> = {};
  on(e: string, f: (d: Db) => void): this {
    (this.listeners[e] ||= []).push(f);
    return this;
  }
  emit(e: string): void {
    for (const f of this.listeners[e] ?? []) f(new Db());
    // -> main.ts#onEvent
    this.listeners[e]?.forEach((f) => f(new Db()));
    // -> main.ts#onEvent
  }
}
function onEvent(d: Db): void {
  d.query();
  // -> main.ts#Db.query
}
new Emitter().on("x", onEvent).emit("x");
// -> main.ts#Emitter.on
// -> main.ts#Emitter.emit
// => main.ts#onEvent
function thisTyped(this: Db): void {
  this.query();
  // -> main.ts#Db.query
}
const lit: ThisType<Db> & { m(): void } = {
  m() {},
};
const o = {
  a() {
    this.b();
    // -> main.ts#o.b
  },
  b: function () {
    this.c();
    // -> main.ts#o.c
  },
  c() {},
};
o.a();
// -> main.ts#o.a
let maybe: Db | undefined;
maybe?.query()?.read();
// -> main.ts#Db.query
// -> main.ts#Row.read
(maybe as Db).query();
// -> main.ts#Db.query
(<Db>maybe).query();
// -> main.ts#Db.query
const arr = [helper, stepB] as const;
arr[0]();
// -> main.ts#helper
const [first, second] = arr;
first();
// -> main.ts#helper
// -/> main.ts#stepB
label: for (const x of [new Db()]) x.query();
// -> main.ts#Db.query
try {
  helper();
  // -> main.ts#helper
} catch (e) {
  if (e instanceof MyError) e.detail();
  // -> main.ts#MyError.detail
} finally {
  helper();
  // -> main.ts#helper
}
class MyError extends Error {
  detail(): void {}
}
var hoisted = late();
// -> main.ts#late
function late(): void {}
new Proxy(new Db(), {}).query();
// -> main.ts#Db.query
Reflect.construct(Db, []);
Object.assign(new Db(), { x: 1 }).query();
// -> main.ts#Db.query
structuredClone(new Db());
const memo = new Map<string, ReturnType<typeof helper>>();
memo.get("x")?.query();
// -> main.ts#Db.query
void (async () => {
  await run();
  // -> main.ts#run
})();
async function run(): Promise<void> {}
const chain = helper()?.query?.();
chain?.read();
// -> main.ts#Row.read

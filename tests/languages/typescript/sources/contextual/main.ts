// Functions without types take them from the place they are written in: a declared literal, parameter, field, return.
class Ctx {
  fail(): void {}
  part: Part = new Part();
}
class Part {
  turn(): void {}
}
interface Rule {
  name: string;
  code(cxt: Ctx): void;
  check?: (p: Part) => void;
  nested: { inner(c: Ctx): void };
  list: Array<(c: Ctx) => void>;
}
const rule: Rule = {
  name: "x",
  code(cxt) {
    cxt.fail();
    // -> main.ts#Ctx.fail
    const { part } = cxt;
    part.turn();
    // -> main.ts#Part.turn
  },
  check: (p) => p.turn(),
  // -> main.ts#Part.turn
  nested: {
    inner(c) {
      c.fail();
      // -> main.ts#Ctx.fail
    },
  },
  list: [(c) => c.fail()],
  // -> main.ts#Ctx.fail
};
function register(rule: Rule): void {
  rule.code(new Ctx());
  // -> main.ts#Rule.code
}
register({
  name: "y",
  code(c) {
    c.fail();
    // -> main.ts#Ctx.fail
  },
  nested: { inner: (c) => c.fail() },
  // -> main.ts#Ctx.fail
  list: [],
});
type Handler = (c: Ctx) => void;
function handler(): Handler {
  return (c) => c.fail();
  // -> main.ts#Ctx.fail
}
class Host {
  on: Handler = (c) => c.fail();
  // -> main.ts#Ctx.fail
  handlers: Record<string, Handler> = {
    a: (c) => c.fail(),
    // -> main.ts#Ctx.fail
  };
  constructor(private readonly done: (p: Part) => void = (p) => p.turn()) {}
  // -> main.ts#Part.turn
}
const many: Handler[] = [(c) => c.fail(), function (c) { c.fail(); }];
// -> main.ts#Ctx.fail
const typed = {
  code(c) {
    c.fail();
    // -> main.ts#Ctx.fail
  },
} satisfies Partial<Rule>;
const cast = { code(c) { c.fail(); } } as Rule;
// -> main.ts#Ctx.fail
function take(f: (c: Ctx, p: Part) => void): void {
  f(new Ctx(), new Part());
}
take((c, p) => {
  c.fail();
  // -> main.ts#Ctx.fail
  p.turn();
  // -> main.ts#Part.turn
});

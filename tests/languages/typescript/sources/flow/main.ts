// Rows 25 to 30: object literals, destructuring, callbacks, closures, currying.
export function one(): void {}
export function two(): void {}

const table = { one, other: two, nested: { go() {} }, say() {} };
const more = { ...table, third: one };

export function objects(): void {
  table.one();
  // -> main.ts#one
  // -/> main.ts#two
  table.other();
  // -> main.ts#two
  table.nested.go();
  // -> main.ts#table.nested.go
  table.say();
  // -> main.ts#table.say
  more.other();
  // -> main.ts#two
  table["one"]();
  // -> main.ts#one
}

export function destructured(): void {
  const { one: first, say } = table;
  first();
  // -> main.ts#one
  say();
  // -> main.ts#table.say
  const [a, b] = [one, two];
  a();
  // -> main.ts#one
  // -/> main.ts#two
  b();
  // -> main.ts#two
}

function each(callback: () => void): void {
  callback();
  // -> main.ts#one [flow]
  // -/> main.ts#two
}
export function callbacks(): void {
  each(one);
  // -> main.ts#each
  // => main.ts#one
  [1, 2].forEach(two);
  // -> main.ts#two [flow]
}

const curry = (left: () => void) => (right: () => void) => {
  left();
  // -> main.ts#one
  right();
  // -> main.ts#two
};
export function closures(): void {
  curry(one)(two);
  // -> main.ts#curry
  const counter = (() => {
    const hidden = (): void => {};
    return { hit: () => hidden() };
  })();
  counter.hit();
}

export function dynamic(name: string, unknown: any): void {
  (table as any)[name]();
  // -/> main.ts#curry
  unknown.one();
  // -/> main.ts#one
  unknown.say();
  // -/> main.ts#table.say
}

'use strict';
const assert = require('node:assert');
class Shape {
  constructor(side) { this.side = side; this.made(); }
  made() {}
  get area() { return square(this.side); }
  static unit() { return new Shape(1); }
  #hidden() { return helper(2); }
  reveal() { return this.#hidden(); }
}
class Square extends Shape {
  constructor(side) { super(side); }
  made() { super.made(); }
}
function square(x) { return helper(x) * helper(x); }
function helper(x) { return x; }
function* numbers(n) { for (let i = 0; i < n; i++) { helper(i); yield i; } }
function* chained() { yield* numbers(2); const got = yield* numbers(1); helper(1); return got; }
function* guarded() { try { yield 1; yield 2; } finally { cleanup(); } }
function cleanup() {}
async function co(x) { helper(x); await null; helper(x); return x; }
async function fails() { await null; throw new Error('no'); }
async function amain() {
  const all = await Promise.all([co(1), co(2), co(3)]);
  try { await fails(); } catch { helper(0); }
  for await (const x of agen()) helper(x);
  outer: for await (const x of [co(4)]) { if (x) continue outer; }
  helper(9);
  return all;
}
async function* agen() { helper(1); yield 1; helper(2); await null; yield* agen2(); return later(); }
async function* agen2() { yield 5; }
function later() { return Promise.resolve(1); }
function boom(n) { if (n === 0) throw new Error('boom'); boom(n - 1); }
function caught() { try { boom(2); } catch (error) { helper(1); } finally { helper(2); } }
const fib = (n) => n < 2 ? n : fib(n - 1) + fib(n - 2);
function make() { let count = 0; return function inner() { count++; return helper(count); }; }
function use(services, name) { return services[name](1); }
function sortKey(a, b) { return a - b; }
function defaults(a = helper(1), { b = helper(2) } = {}) { return a + b; }
function deep(n) { return deep(n + 1) + 1; }
function overflow() { try { deep(0); } catch (e) { assert(e instanceof RangeError); helper(1); } }
function sloppy() { var g = 1; function g() {} return g; }
async function gather() { return [await co(1), await (co(2), co(3))]; }
const api = { get() { return helper(1); }, post: function () { return helper(2); }, put: () => helper(3) };
function tagged(strings) { return strings[0]; }
async function main() {
  const s = new Square(2);
  assert.equal(s.area, 4);
  Shape.unit().reveal();
  assert.deepEqual([...numbers(3)], [0, 1, 2]);
  assert.deepEqual([...chained()], [0, 1, 0]);
  for (const x of guarded()) break;
  caught();
  fib(5);
  const inner = make(); inner(); inner();
  use({ one: helper, two: (x) => square(x) }, 'one'); use({ two: (x) => square(x) }, 'two');
  [3, 1, 2].sort(sortKey);
  assert.equal(defaults(), 3);
  overflow(); sloppy();
  api.get(); api.post(); api.put(); tagged`x`;
  assert.deepEqual(await amain(), [1, 2, 3]);
  assert.deepEqual(await gather(), [1, 3]);
  assert.equal(square.toString(), 'function square(x) { return helper(x) * helper(x); }');
  assert.equal(square.length, 1); assert.equal(fib.name, 'fib');
  assert.equal(((x) => x + 1).toString(), '(x) => x + 1');
  await new Promise((done) => setTimeout(() => { helper(7); done(); }, 1));
  assert.equal(stackLine(), 70);
}
function stackLine() { return Number(/cases\.cjs:(\d+)/.exec(new Error().stack)[1]); }
module.exports = { main, helper, square };
if (require.main === module) main().then(() => { require('node:child_process').execFileSync(process.execPath, [__dirname + '/child.mjs'], { stdio: 'inherit' }); });

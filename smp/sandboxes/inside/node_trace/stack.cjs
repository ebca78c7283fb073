// Who is running on this thread, and who called whom how often. Instrumented code talks to the object made here.
//
// A frame is {r: record, u: the frame below}. `c` is the running frame of the checkout, null when there is none.
// Functions take their frame off themselves when they end; generators and asynchronous functions also when they are
// suspended, and put it back, on whatever runs then, when they go on.
'use strict';

const MAX_PAIRS = 200_000;
const UNNAMED = '<anonymous>';
const MODULE = '<module>';

const records = new Map();
let pairs = 0;
let lost = 0;
let version = 0;

function record(id) {
  const [line, file, name] = id.split('\t');
  const made = { line: Number(line), file, name, called: name !== UNNAMED && name !== MODULE, calls: new Map() };
  records.set(id, made);
  return made;
}

function add(caller, callee) {
  version++;
  if (pairs >= MAX_PAIRS) {
    lost++;
    return;
  }
  pairs++;
  caller.calls.set(callee, { n: 1 });
}

const iteratorKeys = (asynchronous) => (asynchronous ? Symbol.asyncIterator : Symbol.iterator);

const stack = {
  c: null,
  // A function begins.
  e(id) {
    const r = records.get(id) ?? record(id);
    const u = stack.c;
    if (u !== null && r.called) {
      const known = u.r.calls.get(r);
      if (known === undefined) add(u.r, r);
      else {
        known.n++;
        version++;
      }
    }
    return (stack.c = { r, u });
  },
  // The body of a module begins; one that failed in between has left its frame.
  m(id) {
    const u = stack.c !== null && stack.c.module ? null : stack.c;
    return (stack.c = { r: records.get(id) ?? record(id), u, module: true });
  },
  // A generator, an asynchronous function or a module ends.
  x(frame) {
    if (stack.c === frame) stack.c = frame.u;
  },
  // It goes on, with what it was sent.
  r(frame, value) {
    if (stack.c !== frame) {
      frame.u = stack.c;
      stack.c = frame;
    }
    return value;
  },
  // It is suspended.
  a(frame, value) {
    if (stack.c === frame) stack.c = frame.u;
    return value;
  },
  // A default value is made by the function that it belongs to, which has not begun.
  d(id, make) {
    const u = stack.c;
    stack.c = { r: records.get(id) ?? record(id), u };
    try {
      return make();
    } finally {
      stack.c = u;
    }
  },
  // What `for await` walks through: the loop is suspended after each step has begun.
  f(frame, iterable) {
    const asynchronous = iterable[Symbol.asyncIterator] != null;
    const step = (call) => {
      try {
        return call();
      } finally {
        stack.a(frame);
      }
    };
    return wrap(iterable, iteratorKeys(asynchronous), step);
  },
  // What `yield*` hands over to: it runs on top of the generator.
  y(frame, iterable, asynchronous) {
    const own = asynchronous && iterable[Symbol.asyncIterator] != null;
    const step = (call) => {
      stack.r(frame);
      try {
        return call();
      } finally {
        stack.a(frame);
      }
    };
    const wrapped = wrap(iterable, iteratorKeys(own), step);
    stack.a(frame);
    return wrapped;
  },
};

function wrap(iterable, key, step) {
  return {
    [key]() {
      const inner = iterable[key]();
      const next = inner.next;
      const optional = (name) => {
        const method = inner[name];
        return method == null ? method : (...given) => step(() => Reflect.apply(method, inner, given));
      };
      return {
        next: (...given) => step(() => Reflect.apply(next, inner, given)),
        get return() {
          return optional('return');
        },
        get throw() {
          return optional('throw');
        },
      };
    },
  };
}

// Everything so far, in the form that the platform reads.
function sums() {
  const frames = [];
  const indexes = new Map();
  const index = (one) => {
    let at = indexes.get(one);
    if (at === undefined) {
      at = frames.push([one.file, one.name === MODULE ? MODULE : `?.${one.name}`, one.line]) - 1;
      indexes.set(one, at);
    }
    return at;
  };
  const calls = [];
  for (const caller of records.values()) {
    for (const [callee, count] of caller.calls) calls.push([index(caller), index(callee), count.n]);
  }
  return { frames, calls, lost };
}

module.exports = { stack, sums, version: () => version, lose: (count) => (lost += count), UNNAMED, MODULE };

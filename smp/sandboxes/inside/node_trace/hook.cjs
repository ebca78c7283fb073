// Counts the calls between functions of the checkout under Node; loaded first in every process and thread of the box.
//
// Every way by which source becomes code is met with `rewrite`: CommonJS modules, ES modules (esm.mjs, on the thread of the
// loaders), and `vm`, which test runners use. The sums are left as one JSON file per process and thread in the folder that
// SMP_TRACE names, in the form that call_trace.py describes.
'use strict';

const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const url = require('node:url');
const vm = require('node:vm');
const { isMainThread, threadId, MessagePort } = require('node:worker_threads');
const { rewrite, restore, isRewritten } = require('./rewrite.cjs');
const { isForeign } = require('./naming.cjs');
const { stack, sums, version, lose, MODULE } = require('./stack.cjs');

const STACK = '__smp$';
const INTERVAL_MS = 100;
const SHARE = 10; // between two writings, times as long as one takes
const { writeFileSync, renameSync } = fs;
const { performance } = globalThis;
const property = { value: stack, enumerable: false, configurable: false, writable: false };

function start(folder) {
  Object.defineProperty(globalThis, STACK, property);
  hideText(Function.prototype);
  traceModules();
  traceScripts();
  traceLoaders();
  Module.syncBuiltinESMExports();
  writeAtTheEnd(path.join(folder, `${process.pid}-${threadId}-${process.hrtime.bigint()}.json`));
}

function traced(source, file, kind, offset) {
  const { text, skipped } = rewrite(source, file, kind, offset);
  if (skipped) lose(skipped);
  return text;
}

// `toString` of a function says what was written, not what was put in.
function hideText(prototype) {
  const value = new Proxy(prototype.toString, {
    apply(native, self, given) {
      const text = Reflect.apply(native, self === value ? native : self, given);
      return isRewritten(text) ? restore(text) : text;
    },
  });
  Object.defineProperty(prototype, 'toString', { value, configurable: true, writable: true });
}

function traceModules() {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function _compile(content, file, ...rest) {
    if (typeof content !== 'string' || isForeign(String(file))) return Reflect.apply(compile, this, [content, file, ...rest]);
    const frame = stack.m(`1\t${file}\t${MODULE}`);
    frame.module = false;
    try {
      return Reflect.apply(compile, this, [traced(content, file, 'commonjs'), file, ...rest]);
    } finally {
      stack.c = frame.u;
    }
  };
}

function traceScripts() {
  const prepared = (code, options) => {
    const named = typeof options === 'string' ? options : options?.filename;
    const file = typeof named === 'string' && named.startsWith('file://') ? url.fileURLToPath(named) : named;
    if (typeof code !== 'string' || typeof file !== 'string' || isForeign(file)) return code;
    return traced(code, file, 'script', { line: options?.lineOffset ?? 0, column: options?.columnOffset ?? 0 });
  };
  const known = (context) => {
    if (context && !Object.getOwnPropertyDescriptor(context, STACK)) Object.defineProperty(context, STACK, property);
  };
  const { Script, runInThisContext, runInContext, runInNewContext, compileFunction } = vm;
  vm.Script = new Proxy(Script, {
    construct: (target, [code, options, ...rest], made) =>
      Reflect.construct(target, [prepared(code, options), options, ...rest], made === vm.Script ? target : made),
  });
  vm.runInThisContext = (code, options) => runInThisContext(prepared(code, options), options);
  vm.runInContext = (code, context, options) => {
    known(context);
    return runInContext(prepared(code, options), context, options);
  };
  vm.runInNewContext = (code, context = {}, options = undefined) => {
    known(context);
    return runInNewContext(prepared(code, options), context, options);
  };
  vm.compileFunction = (code, parameters, options) => {
    known(options?.parsingContext);
    return compileFunction(prepared(code, options), parameters, options);
  };
  for (const name of ['runInContext', 'runInNewContext']) {
    const run = Script.prototype[name];
    Script.prototype[name] = function (context = {}, ...rest) {
      known(context);
      return Reflect.apply(run, this, [context, ...rest]);
    };
  }
}

// Loaders that come later see the source first; ours has to be behind them, so it is put on top after each.
function traceLoaders() {
  if (typeof Module.register !== 'function') return;
  const { register } = Module;
  const ours = url.pathToFileURL(path.join(__dirname, 'esm.mjs')).href;
  if (isMainThread) register(ours);
  Module.register = (...given) => {
    const made = Reflect.apply(register, Module, given);
    register(ours);
    return made;
  };
}

function writeAtTheEnd(target) {
  let written = -1;
  let next = 0;
  const write = () => {
    if (written === version()) return;
    const begin = performance.now();
    written = version();
    try {
      writeFileSync(`${target}.part`, JSON.stringify({ ...sums(), thread: !isMainThread }));
      renameSync(`${target}.part`, target);
    } catch {
      // The folder is gone or full: a program must not fail for being watched.
    }
    const end = performance.now();
    next = end + (end - begin) * SHARE;
  };
  const writeSometimes = () => {
    if (performance.now() >= next) write();
  };
  const before = (owner, name, first) => {
    const method = owner?.[name];
    if (typeof method !== 'function') return;
    owner[name] = function (...given) {
      first();
      return Reflect.apply(method, this, given);
    };
  };
  process.on('exit', write);
  for (const name of ['reallyExit', 'abort', 'kill']) before(process, name, write);
  // A runner ends its workers by signals and by terminating threads: what is left then is what was written last, at the
  // latest before the worker said that it was ready.
  before(process, 'send', writeSometimes);
  if (!isMainThread) before(MessagePort.prototype, 'postMessage', writeSometimes);
  setInterval(writeSometimes, INTERVAL_MS).unref();
}

const OLDEST = 18;
const major = Number(process.versions.node.split('.')[0]);

// With the kernel's tracer the variable names no folder.
if (process.env.SMP_TRACE?.startsWith('/') && major >= OLDEST && !Object.hasOwn(globalThis, STACK)) start(process.env.SMP_TRACE);

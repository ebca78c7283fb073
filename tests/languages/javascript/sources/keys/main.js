// Rows 25, 39: a key that a constant of the file names is one key: what is stored under a symbol is read under it only.
"use strict";
const { kRun, kOther } = require("./symbols");
const kLocal = Symbol("local");
const NAME = "named";
function run() {}
function other() {}
function local() {}
function named() {}
const host = {
  [kRun]: run,
  [kLocal]: local,
  [NAME]: named,
  plain: run,
};
host[kOther] = other;
function go() {
  host[kRun]();
  // -> main.js#run
  // -/> main.js#other
  // -/> main.js#local
  host[kOther]();
  // -> main.js#other
  // -/> main.js#run
  host[kLocal]();
  // -> main.js#local
  host.named();
  // -> main.js#named
  // -/> main.js#other
  host.plain();
  // -> main.js#run
  // -/> main.js#other
  host.absent();
  // -/> main.js#other
}
class Box {
  constructor() {
    this[kLocal] = new Part();
  }
  use() {
    this[kLocal].turn();
    // -> main.js#Part.turn
  }
}
class Part {
  turn() {}
}
module.exports = { go, Box };

// What a function without a class is called on; values that go outside beside a function.
const outside = require("outside");
const { promisify } = require("util");

function add(name) {
  this.check(name);
  // -> main.js#build.app.check
}
function build() {
  const app = {
    add,
    check(name) {},
  };
  app.later = later;
  return app;
}
function later() {
  this.check();
  // -> main.js#build.app.check
}
function unrelated() {
  this.check();
  // -/> main.js#build.app.check
}

class Context {
  run() {}
}
function routed(request, context) {
  context.run();
  // -> main.js#Context.run
}
function unnamed(request, other) {
  other.run();
  // -/> main.js#Context.run
}
function route() {
  const router = outside();
  const context = new Context();
  router.on("/", routed, context);
  router.on("/", unnamed, context);
}

function ticked(context) {
  context.run();
  // -> main.js#Context.run
}
async function work() {}
function go() {
  build().add("x");
  // -> main.js#add
  build().later();
  // -> main.js#later
  route();
  // -> main.js#route
  process.nextTick(ticked, new Context());
  const waiting = promisify(work);
  waiting();
  // -> main.js#work
}
go();

// Accessors and methods by description, prototypes that are set, objects that are put together.
const kRun = Symbol("run");
function Answer(raw) {
  this.raw = raw;
}
Object.defineProperties(Answer.prototype, {
  sent: {
    get() {
      return this.raw;
    },
    set(value) {
      this.raw = value;
    },
  },
  code: { value: function code() {} },
});
Object.defineProperty(Answer.prototype, "server", {
  get: function () {
    return this.raw;
  },
});
Object.assign(Answer.prototype, { first() {} }, { second() {} });
Answer.prototype[kRun] = function run() {};

function build(Base) {
  function Made(raw) {
    this.extra = new Extra();
  }
  Object.setPrototypeOf(Made.prototype, Base.prototype);
  return Made;
}
function Extra() {
  this.on = true;
}
Extra.prototype.go = function () {};
Answer.prototype.use = function () {
  this.extra.go();
  // -> main.js#Extra.go
};

function Plain(options) {
  this.handler = options.handler;
}
function handle() {}
function other() {}

function read() {
  const answer = new Answer(1);
  answer.sent;
  // -> main.js#Answer.sent.get [property]
  answer.sent = 2;
  // -> main.js#Answer.sent.set [property]
  answer.server;
  // -> main.js#Answer.get [property]
  answer.code();
  // -> main.js#Answer.code.value
  answer.second();
  // -> main.js#Answer.second
  answer[kRun]();
  // -> main.js#run
  const Made = build(Answer);
  const made = new Made(1);
  made.first();
  // -> main.js#Answer.first
  made.sent;
  // -> main.js#Answer.sent.get [property]
  made.use();
  // -> main.js#Answer.use
  const plain = new Plain(Object.assign({}, { handler: other }, { handler: handle }));
  plain.handler();
  // -> main.js#handle
  // -/> main.js#other
}
read();

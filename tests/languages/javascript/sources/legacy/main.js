// What older code writes: methods put on objects one by one, prototypes that inherit, helpers that set them.
var app = (exports = module.exports = {});

app.init = function () {
  this.configure();
  // -> main.js#app.configure
};
app.configure = function () {
  var self = this;
  return function () {
    return self.init();
    // -> main.js#app.init
  };
};

function Base() {}
Base.prototype.shared = function () {};
function Lower() {
  Base.call(this);
  // -> main.js#Base
}
Lower.prototype = Object.create(Base.prototype);
Lower.prototype.own = function () {
  return this.shared();
  // -> main.js#Base.shared [hierarchy]
};
function Other() {}
require("util").inherits(Other, Base);
Other.prototype.own = function () {
  return this.shared();
  // -> main.js#Base.shared
};

/**
 * @param {Lower} lower
 * @returns {Base}
 */
function typed(lower, unknown) {
  lower.own();
  // -> main.js#Lower.own [receiver_type]
  unknown.own();
  // -/> main.js#Lower.own
  return lower;
}
function run() {
  typed(new Lower()).shared();
  // -> main.js#typed
  // -> main.js#Base.shared
  new Other().own();
  // -> main.js#Other.own
  // -/> main.js#Lower.own
}
run();

"use strict";
function Reply(res) {
  this.res = res;
}
Reply.prototype.send = function (x) {
  return this;
};
Object.defineProperties(Reply.prototype, {
  elapsed: {
    get: function () {
      return tick();
      // -> lib.js#tick
    },
  },
});
Object.assign(Reply.prototype, {
  extra() {
    return this.send(1);
    // -> lib.js#Reply.send
  },
});
function tick() {}
function build(R) {
  function _Reply(res) {
    R.call(this, res);
  }
  _Reply.prototype = new R();
  return _Reply;
}
module.exports = Reply;
module.exports.build = build;
module.exports.helpers = { reset, tick };
function reset() {}

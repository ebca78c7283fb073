exports.a = function () {};
exports.b = b;
function b() {}
exports.c = { d() {} };
exports.e = () => {};
const self = (module.exports.onlyProto = function onlyProto() {});
exports.spread = function () {
  exports.a();
  // -> lib.js#a
  module.exports.b();
  // -> lib.js#b
};

// A stand-in that one file of tests puts in does not run in the tests of another.
class Real {
  send() {}
}
exports.handle = function handle(reply, then) {
  then(reply);
};
exports.Real = Real;

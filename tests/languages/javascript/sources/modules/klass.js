class Klass {
  go() {}
  static make() {}
}
class Inner {
  run() {}
}
Klass.Inner = Inner;
module.exports = Klass;

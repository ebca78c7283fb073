// Row 4: CommonJS in all its forms.
const lib = require("./lib");
const { a, b: bee } = require("./lib");
const Klass = require("./klass");
const all = require("./index");
const dflt = require("./esm").default;
const dynamic = require("./lib").a;
lib.a();
// -> lib.js#a
a();
// -> lib.js#a
bee();
// -> lib.js#b
lib.c.d();
// -> lib.js#c.d
new Klass().go();
// -> klass.js#Klass.go
new Klass.Inner().run();
// -> klass.js#Inner.run
all.lib.a();
// -> lib.js#a
all.Klass.make();
// -> klass.js#Klass.make
dflt();
// -> esm.mjs#esmDefault
dynamic();
// -> lib.js#a
function lazy() {
  const l = require("./lib");
  l.e();
  // -> lib.js#e
  require("./lib").a();
  // -> lib.js#a
}
Object.keys(lib).forEach((k) => lib[k]());
module.exports = lazy;
module.exports.extra = function extra() {};
all.spread();
// -> lib.js#spread

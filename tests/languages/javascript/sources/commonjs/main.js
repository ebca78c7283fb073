const tools = require("./tools");
const { cut, glue: paste } = require("./tools.js");
const table = require("./table");
const single = require("./single");
const Shape = require("./shape");
const path = require("path");

function run(name) {
  tools.trim("");
  // -> tools.js#trim [import]
  tools.cut();
  // -> tools.js#cut [import]
  cut();
  // -> tools.js#cut [import]
  paste();
  // -> tools.js#glue [import]
  table.pad();
  // -> table.js#pad
  table.trim("");
  // -> tools.js#trim
  single();
  // -> single.js#single
  new Shape().area();
  // -> shape.js#Shape
  // -> shape.js#Shape.area
  path.join("a");
  // x> node:path.join
  require(name).trim();
  // -/> tools.js#trim
}
module.exports = { run };

const { trim } = require("./tools");
module.exports = {
  trim,
  pad() {
    return trim("");
    // -> tools.js#trim [import]
  },
};

module.exports = {
  lib: require("./lib"),
  Klass: require("./klass"),
  ...require("./lib"),
};

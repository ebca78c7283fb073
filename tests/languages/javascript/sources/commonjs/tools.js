// Row 4: what CommonJS hands out, and how either kind of module takes it in.
function trim(text) {
  return text.trim();
  // -/> tools.js#trim
}
exports.trim = trim;
exports.cut = function () {
  return exports.trim("");
  // -> tools.js#trim
};
module.exports.glue = () => trim("");
// glue -> tools.js#trim [lexical]

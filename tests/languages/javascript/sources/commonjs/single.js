module.exports = function single() {
  return 1;
};

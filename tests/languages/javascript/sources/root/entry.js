function start() {}
module.exports = start;

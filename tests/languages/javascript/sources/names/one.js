function a() {}
function b() {}
const x = { run() { a(); } }, y = { run() { b(); } };
// x.run -> one.js#a
x.run();
// -> one.js#x.run
// -/> one.js#y.run

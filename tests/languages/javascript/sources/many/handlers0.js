const { hooks } = require("./lib");
function h0(reply, done) {
  reply.send();
  // -> lib.js#Reply.send
  done();
  // -> lib.js#finish [flow]
}
hooks.add("before", h0);
// -> lib.js#Hooks.add
function h1(reply, done) {}
hooks.add("before", h1);
// -> lib.js#Hooks.add
function h2(reply, done) {}
hooks.add("before", h2);
// -> lib.js#Hooks.add
function h3(reply, done) {}
hooks.add("before", h3);
// -> lib.js#Hooks.add
function h4(reply, done) {}
hooks.add("before", h4);
// -> lib.js#Hooks.add
function h5(reply, done) {}
hooks.add("before", h5);
// -> lib.js#Hooks.add
function h6(reply, done) {}
hooks.add("before", h6);
// -> lib.js#Hooks.add
function h7(reply, done) {}
hooks.add("before", h7);
// -> lib.js#Hooks.add
function h8(reply, done) {}
hooks.add("before", h8);
// -> lib.js#Hooks.add
function h9(reply, done) {}
hooks.add("before", h9);
// -> lib.js#Hooks.add
function h10(reply, done) {}
hooks.add("before", h10);
// -> lib.js#Hooks.add
function h11(reply, done) {}
hooks.add("before", h11);
// -> lib.js#Hooks.add
function h12(reply, done) {}
hooks.add("before", h12);
// -> lib.js#Hooks.add
function h13(reply, done) {}
hooks.add("before", h13);
// -> lib.js#Hooks.add
function h14(reply, done) {}
hooks.add("before", h14);
// -> lib.js#Hooks.add
function h15(reply, done) {}
hooks.add("before", h15);
// -> lib.js#Hooks.add
function h16(reply, done) {}
hooks.add("before", h16);
// -> lib.js#Hooks.add
function h17(reply, done) {}
hooks.add("before", h17);
// -> lib.js#Hooks.add

const { hooks } = require("./lib");
function h18(reply, done) {}
hooks.add("before", h18);
// -> lib.js#Hooks.add
function h19(reply, done) {}
hooks.add("before", h19);
// -> lib.js#Hooks.add
function h20(reply, done) {
  reply.send();
  // -> lib.js#Reply.send
  done();
  // -> lib.js#finish [flow]
}
hooks.add("before", h20);
// -> lib.js#Hooks.add
function h21(reply, done) {}
hooks.add("before", h21);
// -> lib.js#Hooks.add
function h22(reply, done) {}
hooks.add("before", h22);
// -> lib.js#Hooks.add
function h23(reply, done) {}
hooks.add("before", h23);
// -> lib.js#Hooks.add
function h24(reply, done) {}
hooks.add("before", h24);
// -> lib.js#Hooks.add
function h25(reply, done) {}
hooks.add("before", h25);
// -> lib.js#Hooks.add
function h26(reply, done) {}
hooks.add("before", h26);
// -> lib.js#Hooks.add
function h27(reply, done) {}
hooks.add("before", h27);
// -> lib.js#Hooks.add
function h28(reply, done) {}
hooks.add("before", h28);
// -> lib.js#Hooks.add
function h29(reply, done) {}
hooks.add("before", h29);
// -> lib.js#Hooks.add
function h30(reply, done) {}
hooks.add("before", h30);
// -> lib.js#Hooks.add
function h31(reply, done) {}
hooks.add("before", h31);
// -> lib.js#Hooks.add
function h32(reply, done) {}
hooks.add("before", h32);
// -> lib.js#Hooks.add
function h33(reply, done) {}
hooks.add("before", h33);
// -> lib.js#Hooks.add
function h34(reply, done) {}
hooks.add("before", h34);
// -> lib.js#Hooks.add
function h35(reply, done) {}
hooks.add("before", h35);
// -> lib.js#Hooks.add

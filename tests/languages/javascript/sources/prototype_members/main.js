// Row 32: prototypes, static accessors, members of an exported function.
"use strict";
const Reply = require("./lib");
const { build } = require("./lib");
const reply = new Reply({});
// -> lib.js#Reply
reply.send(1).send(2);
// -> lib.js#Reply.send
reply.extra();
// -> lib.js#Reply.extra
const Made = Reply.build(Reply);
// -> lib.js#build
build(Reply);
// -> lib.js#build
const made = new Made({});
made.send(3);
Reply.helpers.reset();
// -> lib.js#reset
const api = { reset: Reply.helpers.reset };
api.reset();
// -> lib.js#reset
Reply.prototype.send.call(reply, 4);
// -> lib.js#Reply.send
class Ajv {
  validate() {}
  static make() {
    return new this();
    // -> main.js#Ajv
  }
  again() {
    this.constructor.make();
    // -> main.js#Ajv.make
  }
}
class Pack {
  validate() {
    return Ajv.prototype.validate.call(this);
    // -> main.js#Ajv.validate
    // -/> main.js#Pack.validate
  }
}
Ajv.make().validate();
// -> main.js#Ajv.make
// -> main.js#Ajv.validate
const proto = Object.create(Ajv.prototype);
proto.validate();
// -> main.js#Ajv.validate
class Counter {
  static get total() {
    return 1;
  }
  static set total(v) {}
}
function count() {
  Counter.total = 3;
  // -> main.js#Counter.total~2
  return Counter.total;
  // -> main.js#Counter.total
}

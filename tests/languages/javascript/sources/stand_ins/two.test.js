const { test } = require("node:test");
const { handle, Real } = require("./app");
test("handles", () => {
  const fake = { send() {} };
  handle(fake, (reply) => {
    reply.send();
    // -> two.test.js#handles.fake.send
    // -/> one.test.js#handles.fake.send
  });
  handle(new Real(), (reply) => {
    reply.send();
    // -> app.js#Real.send
  });
});

/** Against a live server, whose address is in SMP_TEST_URL; `make test` starts one (tests/protocol/client/test_typescript.py). */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { CallFailed, Client, Misunderstood, Unreachable } from "../src/index.js";
import { readFrame } from "../src/notifications.js";

const url = process.env["SMP_TEST_URL"] ?? "http://127.0.0.1:8420";
const token = process.env["SMP_TEST_TOKEN"];
const client = new Client(url, token === undefined ? {} : { token });
const agent_id = "ada";

test("a result has the types of the server", async () => {
  const found = await client.navigate({ query: "shop/cart.py#total", include_relationships: true });
  assert.equal(found.entity.name, "total");
  const [first] = (await client.locate({ query: "what the customer pays", ranking: "fusion" })).results;
  assert.equal(first?.name, "total");
});

test("an error has its code and fields", async () => {
  await assert.rejects(client.navigate({ query: "nowhere" }), (error) => {
    assert(error instanceof CallFailed);
    assert.equal(error.code, -32001);
    assert.deepEqual(error.data, { node_id: "nowhere" });
    return true;
  });
});

test("a session gives its id to every call and is closed at the end", async () => {
  const id = await client.session({ agent_id, task: "look", scope: ["shop/"], mode: "read" }, async (session) => {
    const verdict = await session.guardCheck({ target: "shop/money.py" });
    assert.equal(verdict.verdict, "blocked");
    assert.equal((await session.navigate({ query: "total" })).entity.name, "total");
    return session.id;
  });
  await assert.rejects(client.sessionRecover({ session_id: id, agent_id }), /no open session/);
});

test("a session that an error leaves is aborted, and the error goes on", async () => {
  let ending: Promise<{ audit_log_id: string }> | undefined;
  const failing = client.session({ agent_id, task: "fail", scope: ["shop/"], mode: "read" }, async (session) => {
    ending = new Promise((done) => {
      const close = session.close.bind(session);
      session.close = async (status) => {
        const result = await close(status);
        done(result);
        return result;
      };
    });
    throw new RangeError("stop");
  });
  await assert.rejects(failing, RangeError);
  assert(ending);
  assert.equal((await client.auditGet({ audit_log_id: (await ending).audit_log_id })).status, "aborted");
});

test("notifications come from the cursor on", async () => {
  const stop = new AbortController();
  const begun = client.notifications({ after: 0, signal: stop.signal });
  await client.update({ file_path: "shop/node.py", content: "N = 1\n", change_type: "created" });
  for await (const notice of begun) {
    if (notice.kind === "notice" && notice.body.type === "memory_updated") {
      assert.ok(notice.body.changes.files_affected.length > 0);
      break;
    }
  }
  const later = client.notifications({ signal: stop.signal });
  const next = later.next();
  stop.abort();
  assert.equal((await next).done, true);
});

test("a wrong token is said", async (context) => {
  if (token === undefined) return context.skip("the server wants none");
  const stranger = new Client(url, { token: "wrong" });
  await assert.rejects(stranger.navigate({ query: "total" }), (error) => error instanceof CallFailed && error.code === -32015);
  await assert.rejects(stranger.notifications().next(), Unreachable);
});

test("nobody at the address is said with what to do", async () => {
  const lost = new Client("http://127.0.0.1:9");
  await assert.rejects(lost.navigate({ query: "total" }), (error) => error instanceof Unreachable && /smp serve/.test(error.message));
  await assert.rejects(lost.notifications().next(), Unreachable);
  assert.throws(() => new Client("ftp://127.0.0.1"), TypeError);
});

test("what reads is sent again, what writes is not", async () => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    if (asked === 1) return void request.socket.destroy();
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { unresolved_count: 0 } }));
  }).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const other = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    assert.equal((await other.linkerReport()).unresolved_count, 0);
    assert.equal(asked, 2);
    asked = 0;
    await assert.rejects(other.update({ file_path: "a.py", change_type: "deleted" }), Unreachable);
    assert.equal(asked, 1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("what is no answer is said as such", async () => {
  const answering = (body: string, status = 200): Client =>
    new Client(url, { fetch: () => Promise.resolve(new Response(body, { status })) });
  for (const body of ["<html>", "{}", "null", "3"])
    await assert.rejects(answering(body).linkerReport(), Misunderstood);
  await assert.rejects(answering("not yours", 401).linkerReport(), CallFailed);
});

test("a gap in the feed is said and a newer notification passed over", () => {
  assert.deepEqual(readFrame('{"method":"smp/notifications/missed","params":{"after":1,"oldest":9}}'), {
    kind: "missed",
    cursor: 8,
    after: 1,
    oldest: 9,
  });
  assert.equal(readFrame('{"method":"smp/other","params":{}}'), undefined);
  assert.throws(() => readFrame("<html>"), Misunderstood);
});

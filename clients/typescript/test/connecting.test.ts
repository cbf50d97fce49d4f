import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { connect, DeadlineError, InputError } from "../src/index.js";
import { Sessions } from "../src/sessions.js";

const JUNK = join(mkdtempSync(join(tmpdir(), "vidscore-")), "junk.pem");
writeFileSync(JUNK, "junk\n");

test("certificates that are none are refused at connect, by the name of the file", () => {
  for (const tls of [
    { rootCertificates: "nowhere.pem" },
    { rootCertificates: JUNK },
    { certificate: JUNK, privateKey: JUNK },
    { certificate: JUNK },
  ]) {
    assert.throws(() => connect("localhost:1", { tls }), InputError);
  }
  const found = /junk\.pem: .*expected PEM/;
  assert.throws(() => connect("localhost:1", { tls: { rootCertificates: JUNK } }), found);
});

test("a token of a variable that is not set is refused", () => {
  const { NO_SUCH_VARIABLE: token } = process.env;
  assert.throws(() => connect("localhost:1", { token }), /token: found undefined/);
});

test("pings that a server takes for an attack are refused", () => {
  for (const keepalive of [{ intervalMs: 9_999 }, { timeoutMs: 0 }, { intervalMs: Number.NaN }]) {
    assert.throws(() => connect("localhost:1", { keepalive }), InputError);
  }
});

/** The port of a machine that accepts connections, sends nothing and never closes them. */
async function silentPort(t: TestContext): Promise<number> {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    silent.close();
  });
  return (silent.address() as { port: number }).port;
}

test("a machine that says nothing has not accepted a stream in time", async (t) => {
  const client = connect(`127.0.0.1:${await silentPort(t)}`, { timeoutMs: 50 });
  await assert.rejects(client.scoreStream(["f1"]), (error) => {
    return (
      error instanceof DeadlineError && /not accepted the stream within 0.05 s/.test(error.message)
    );
  });
  client.abort();
});

test("a session that fails after its manager was closed does not end the process", async (t) => {
  const port = await silentPort(t);
  const sessions = new Sessions(`http://127.0.0.1:${port}`, {
    pingIntervalMs: 10,
    pingTimeoutMs: 10,
  });
  const stream = await sessions.request("POST", "/", {}, {});
  await new Promise<void>((resolve) => stream.once("error", () => resolve()));
  sessions.abort();
  // An uncaught error would fail this test while it waits for the end of the session.
  await new Promise<void>((resolve) =>
    stream.session === undefined ? resolve() : stream.session.once("close", () => resolve()),
  );
});

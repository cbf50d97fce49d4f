import assert from "node:assert/strict";
import { test } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { LimitExceededError } from "../src/index.js";
import { errorFrom } from "../src/status.js";

test("a message that gRPC itself has refused breaks the server's limit", () => {
  const text = "SERVER: Received message larger than max (1280028 vs. 1114112)";
  const error = errorFrom(new ConnectError(text, Code.ResourceExhausted));
  assert.ok(error instanceof LimitExceededError);
  assert.equal(
    error.message,
    "a message of 1280028 bytes; the server accepts at most 1114112: " +
      "send less at once, or raise its limit maximum_message_bytes",
  );
  assert.equal(error.reason, "LIMIT_EXCEEDED");
  assert.deepEqual(error.metadata, { limit: "maximum_message_bytes", maximum: "1114112" });
  const own = "CLIENT: Received message larger than max (9 vs. 8)";
  assert.equal(errorFrom(new ConnectError(own, Code.ResourceExhausted)).message, own);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ConflictError,
  InternalError,
  LimitExceededError,
  UnavailableError,
} from "../src/errors.js";
import { Retrying } from "../src/retrying.js";
import { completeRetry } from "../src/settings.js";

const BROKEN = new UnavailableError("Socket closed", { code: "UNAVAILABLE" });

test("the first try is made at once, and each wait is twice the one before up to the longest", () => {
  const retrying = new Retrying(completeRetry({ initialMs: 100, maximumMs: 300 }), () => 1);
  const waits = [0, 1, 2, 3, 4].map(() => retrying.delayMs(BROKEN, 0));
  assert.deepEqual(waits, [0, 100, 200, 300, 300]);
});

test("chance takes up to half of a wait away, so that clients do not come back all at once", () => {
  const retrying = new Retrying(completeRetry({ initialMs: 100 }), () => 0);
  assert.deepEqual([retrying.delayMs(BROKEN, 0), retrying.delayMs(BROKEN, 0)], [0, 50]);
});

test("it gives up after some time without progress, but not after one that had progress", () => {
  const retrying = new Retrying(completeRetry({ giveUpAfterMs: 1000 }));
  retrying.delayMs(BROKEN, 0);
  retrying.progress();
  retrying.delayMs(BROKEN, 5000);
  assert.throws(() => retrying.delayMs(BROKEN, 6000), UnavailableError);
});

test("what would fail again is not tried again", () => {
  const refused = new ConflictError("no", { code: "FAILED_PRECONDITION" });
  const failed = new InternalError("bug", { code: "INTERNAL", metadata: { incident: "1" } });
  for (const error of [refused, failed]) {
    assert.throws(() => new Retrying(completeRetry()).delayMs(error, 0), error);
  }
});

test("a gap in the offsets passes: the client asks where to go on", () => {
  const gap = new ConflictError("gap", { code: "OUT_OF_RANGE", reason: "OFFSET_GAP" });
  assert.equal(new Retrying(completeRetry()).delayMs(gap, 0), 0);
});

test("no wait is shorter than the server wants, and none outlasts the deadline", () => {
  const retry = completeRetry({ initialMs: 1000, maximumMs: 8000, giveUpAfterMs: 60_000 });
  const retrying = new Retrying(retry, () => 1);
  const busy = (retryDelayMs: number) =>
    new LimitExceededError("busy", { code: "RESOURCE_EXHAUSTED", retryDelayMs });
  const waits = [0, 1, 2, 3, 4].map(() => retrying.delayMs(busy(3000), 0));
  assert.deepEqual(waits, [3000, 3000, 3000, 4000, 8000]);
  assert.throws(() => retrying.delayMs(busy(61_000), 0), LimitExceededError);
});

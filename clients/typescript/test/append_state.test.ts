import assert from "node:assert/strict";
import { test } from "node:test";
import { AppendState } from "../src/append_state.js";
import {
  ClosedError,
  ConflictError,
  InternalError,
  LimitExceededError,
  SupersededError,
  UnavailableError,
} from "../src/errors.js";
import { completeBatching, completeDelivery } from "../src/settings.js";
import { frame } from "./frames.js";

const BROKEN = new UnavailableError("Socket closed", { code: "UNAVAILABLE" });

function opened(nextOffset = 0, delivery = {}, replay = false): AppendState {
  return new AppendState(
    { stream: "default", epoch: 7, nextOffset },
    completeBatching({ batchFrames: 2, batchIntervalMs: 100 }),
    completeDelivery(delivery),
    replay,
  );
}

function numbers(state: AppendState, nowMs = 0): number[] {
  return (state.take(nowMs)?.frames ?? []).map(({ number }) => Number(number));
}

function admit(state: AppendState, ...frames: number[]): void {
  for (const number of frames) {
    assert.ok(state.admit(frame(number), 0));
  }
}

test("full batches are sent at once, and a last one when its time has come", () => {
  const state = opened();
  admit(state, 0, 1, 2);
  assert.deepEqual(numbers(state), [0, 1]);
  assert.equal(state.take(99), null);
  assert.deepEqual(state.take(100)?.offset, 2);
});

test("frames that were acknowledged are let go of, and the rest is sent again after a break", () => {
  const state = opened();
  admit(state, 0, 1, 2, 3);
  numbers(state);
  numbers(state);
  assert.ok(state.acknowledge(2, 0));
  assert.equal(state.delayMs(BROKEN, 0), 0);
  assert.ok(state.broken);
  assert.ok(!state.resume({ stream: "default", epoch: 7, nextOffset: 2 }, 0));
  assert.deepEqual(numbers(state), [2, 3]);
  assert.ok(state.acknowledge(4, 0));
  assert.ok(state.idle);
});

test("a batch of which the server has a part is cut there", () => {
  const state = opened();
  admit(state, 0, 1);
  numbers(state);
  state.delayMs(BROKEN, 0);
  assert.ok(state.resume({ stream: "default", epoch: 7, nextOffset: 1 }, 0));
  const again = state.take(0);
  assert.deepEqual([again?.offset, again?.frames.length], [1, 1]);
});

test("frames that were durable at opening are left out of a replay", () => {
  const state = opened(2, {}, true);
  admit(state, 0, 1, 2, 3);
  const batch = state.take(0);
  assert.equal(batch?.offset, 2);
  assert.deepEqual(
    batch?.frames.map(({ number }) => number),
    [2n, 3n],
  );
});

test("a full window sends nothing more until something is acknowledged", () => {
  const state = opened(0, { windowFrames: 2 });
  admit(state, 0, 1, 2, 3);
  assert.deepEqual(numbers(state), [0, 1]);
  assert.deepEqual(numbers(state), []);
  assert.equal(state.dueMs, null);
  state.acknowledge(2, 0);
  assert.deepEqual(numbers(state), [2, 3]);
});

test("a younger writer ends this one", () => {
  const other = { stream: "default", epoch: 8, nextOffset: 0 };
  assert.throws(() => opened().resume(other, 0), SupersededError);
});

test("a server that lost acknowledged frames is a conflict, not a reason to send them again", () => {
  const state = opened();
  admit(state, 0, 1);
  numbers(state);
  state.acknowledge(2, 0);
  const setBack = { stream: "default", epoch: 7, nextOffset: 1 };
  assert.throws(() => state.resume(setBack, 0), ConflictError);
});

test("an acknowledgement of frames that were never sent is refused", () => {
  const acknowledged = (frames: number): void => {
    opened().acknowledge(frames, 0);
  };
  const said = "the server acknowledged";
  assert.throws(
    () => acknowledged(1),
    new InternalError(`${said} 1 frame, but only 0 had been sent`),
  );
  assert.throws(
    () => acknowledged(2),
    new InternalError(`${said} 2 frames, but only 0 had been sent`),
  );
});

test("a connection counts as broken where no answer comes in time", () => {
  const state = opened(0, { acknowledgeTimeoutMs: 50 });
  assert.equal(state.stalledAtMs, null);
  admit(state, 0, 1);
  state.take(10);
  assert.equal(state.stalledAtMs, 60);
  state.acknowledge(2, 20);
  assert.equal(state.stalledAtMs, null);
});

test("a closed stream takes no frames, and a failed one tells why", () => {
  const closed = opened();
  closed.close();
  assert.throws(() => closed.admit(frame(0), 0), ClosedError);
  const failed = opened();
  failed.end(BROKEN);
  assert.throws(() => failed.admit(frame(0), 0), UnavailableError);
});

function tooLarge(maximum: string, limit = "maximum_batch_frames"): LimitExceededError {
  return new LimitExceededError("too large", {
    code: "RESOURCE_EXHAUSTED",
    reason: "LIMIT_EXCEEDED",
    metadata: { limit, maximum },
  });
}

test("batches are cut anew where a server takes smaller ones than it said", () => {
  const state = opened();
  admit(state, 0, 1, 2, 3, 4);
  assert.deepEqual(numbers(state), [0, 1]);
  assert.deepEqual(numbers(state), [2, 3]);
  assert.equal(state.delayMs(tooLarge("1"), 0), 0);
  assert.ok(state.resume({ stream: "default", epoch: 7, nextOffset: 2 }, 0));
  assert.equal(state.undelivered, 3);
  const sent = [state.take(0), state.take(0), state.take(0)];
  assert.deepEqual(
    sent.map((batch) => [batch?.offset, ...(batch?.frames ?? []).map((f) => Number(f.number))]),
    [
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  );
  assert.equal(state.take(0), null);
  assert.equal(state.undelivered, 3);
});

test("a batch that cannot be cut smaller ends the stream", () => {
  const state = opened();
  admit(state, 0, 1);
  state.delayMs(tooLarge("1"), 0);
  assert.throws(() => state.delayMs(tooLarge("1"), 0), LimitExceededError);
});

test("a batch over another limit is halved, unless no cut helps", () => {
  const state = opened();
  admit(state, 0, 1, 2);
  assert.deepEqual(numbers(state), [0, 1]);
  assert.throws(() => state.delayMs(tooLarge("4", "maximum_frame_objects"), 0), LimitExceededError);
  state.delayMs(tooLarge("4", "maximum_batch_objects"), 0);
  state.resume({ stream: "default", epoch: 7, nextOffset: 0 }, 0);
  for (const number of [0, 1, 2]) {
    assert.deepEqual(numbers(state), [number]);
  }
  assert.throws(() => state.delayMs(tooLarge("4", "maximum_batch_objects"), 0), LimitExceededError);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { checkFrame, frameSize } from "../src/frames.js";
import { Outbox } from "../src/outbox.js";
import { completeBatching } from "../src/settings.js";
import { frame } from "./frames.js";

const SIZE = frameSize(frame(0));

test("frames wait for others no longer than the interval", () => {
  const outbox = new Outbox(completeBatching({ batchIntervalMs: 100 }));
  outbox.offer("detections", frame(0), 0);
  outbox.offer("detections", frame(1), 50);
  assert.equal(outbox.dueMs, 100);
  assert.equal(outbox.take(99), null);
  assert.equal(outbox.take(100)?.frames.length, 2);
  assert.equal(outbox.dueMs, null);
});

test("a batch has at most so many frames, and at most so many bytes unless one alone has more", () => {
  const byFrames = new Outbox(completeBatching({ batchFrames: 2 }));
  const byBytes = new Outbox(completeBatching({ batchBytes: 2 * SIZE + 1 }));
  const byLittle = new Outbox(completeBatching({ batchBytes: 1 }));
  for (const outbox of [byFrames, byBytes, byLittle]) {
    for (let number = 0; number < 3; number++) {
      outbox.offer("detections", frame(number), 0);
    }
    outbox.flush();
  }
  assert.deepEqual(
    [byFrames.take(0), byFrames.take(0)].map((batch) => batch?.frames.length),
    [2, 1],
  );
  assert.deepEqual(
    [byBytes.take(0), byBytes.take(0)].map((batch) => batch?.frames.length),
    [2, 1],
  );
  assert.equal(byLittle.take(0)?.frames.length, 1);
});

test("a full queue takes nothing, and an empty one takes a frame of any size", () => {
  const outbox = new Outbox(completeBatching({ queueBytes: 1 }));
  assert.ok(outbox.offer("truth", frame(0), 0));
  assert.ok(!outbox.offer("detections", frame(0), 0));
  outbox.flush();
  outbox.take(0);
  assert.ok(outbox.offer("detections", frame(0), 0));
});

test("frames with masks and without go into messages of their own", () => {
  const boxes = [[0, 0, 1, 1]];
  const masked = (number: number) =>
    checkFrame(
      {
        sequence: "street",
        frame: number,
        coordinates: boxes,
        masks: [{ height: 1, width: 1, counts: [1] }],
      },
      4,
    );
  const empty = checkFrame({ sequence: "street", frame: 2, coordinates: [] }, 4);
  const frames = [masked(0), frame(1), empty, masked(3), masked(4)];
  const single = new Outbox(completeBatching());
  for (const each of frames) {
    single.offer("detections", each, 0);
  }
  single.flush();
  const whole = new Outbox(completeBatching());
  whole.offerAll("detections", frames, 0);
  for (const outbox of [single, whole]) {
    const batches = [outbox.take(0), outbox.take(0), outbox.take(0)];
    assert.deepEqual(
      batches.map((batch) => batch?.frames.map(({ number }) => Number(number))),
      [[0], [1, 2], [3, 4]],
    );
  }
});

test("the sides are never mixed in a batch", () => {
  const outbox = new Outbox(completeBatching());
  outbox.offer("truth", frame(0), 0);
  outbox.offer("detections", frame(0), 0);
  outbox.flush();
  assert.deepEqual([outbox.take(0)?.side, outbox.take(0)?.side], ["truth", "detections"]);
});

test("a server's limits make batches smaller, never larger", () => {
  const outbox = new Outbox(completeBatching({ batchFrames: 2 }));
  outbox.limit(1, Number.POSITIVE_INFINITY);
  outbox.offer("truth", frame(0), 0);
  outbox.offer("truth", frame(1), 0);
  assert.equal(outbox.take(0)?.frames.length, 1);
});

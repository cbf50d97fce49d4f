import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../src/errors.js";
import { checkFrame, encodeFrames, frameSize, type TruthFrame } from "../src/frames.js";
import type { Mask } from "../src/masks.js";

const BOX = [0, 0, 3, 2];
const ONE = { height: 2, width: 3, counts: [1, 2, 3] };
const OTHER = { height: 2, width: 3, counts: "06" };

function masked(frame: number, ...masks: Mask[]): TruthFrame {
  return { sequence: "a", frame, coordinates: masks.map(() => BOX), masks };
}

function encoded(...frames: TruthFrame[]) {
  return encodeFrames(
    frames.map((frame) => checkFrame(frame, 4)),
    4,
  );
}

test("the text of a mask is its runs", () => {
  // The vector of all clients: 480 by 640 pixels, as pycocotools writes them.
  const mask = { height: 480, width: 640, counts: "32n0Vo0SOPRO[nZ9" };
  const [checked] = checkFrame(masked(0, mask), 4).masks ?? [];
  assert.deepEqual(checked, { height: 480, width: 640, runs: [3, 2, 30, 1000, 1, 40, 306124] });
});

test("masks are columns of the wire", () => {
  const message = encoded(
    masked(0, ONE, OTHER),
    { ...masked(1), masks: undefined },
    masked(2, OTHER),
  );
  assert.deepEqual(message.maskHeights, [2, 2, 2]);
  assert.deepEqual(message.maskWidths, [3, 3, 3]);
  assert.deepEqual(message.maskRunCounts, [3, 2, 2]);
  assert.deepEqual(message.maskRuns, [1, 2, 3, 0, 6, 0, 6]);
});

test("the bytes of masks count", () => {
  const plain = checkFrame({ sequence: "a", frame: 0, coordinates: [BOX] }, 4);
  assert.equal(frameSize(checkFrame(masked(0, ONE), 4)) - frameSize(plain), 15 + 3 * 5);
});

test("what is no mask is refused by name", () => {
  const texts = ["/", "p", "V", "é", "O", "ooooooooo0", "00006O"];
  const wrong: unknown[] = [
    null,
    {},
    { ...ONE, counts: [0.5] },
    { ...ONE, counts: [-1] },
    { ...ONE, counts: [2 ** 32] },
    { ...ONE, height: "2" },
    ...texts.map((counts) => ({ ...ONE, counts })),
  ];
  for (const mask of wrong) {
    assert.throws(
      () => checkFrame(masked(0, mask as Mask), 4),
      (error) => error instanceof InputError && error.argument === "masks",
      JSON.stringify(mask),
    );
  }
  assert.throws(() => checkFrame({ ...masked(0, ONE), masks: [ONE, ONE] }, 4), InputError);
});

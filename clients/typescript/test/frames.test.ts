import assert from "node:assert/strict";
import { test } from "node:test";
import { InputError } from "../src/errors.js";
import { checkFrame, encodeFrames, type TruthFrame } from "../src/frames.js";

const BOX = [1, 2, 3, 4];

function refused(frame: Partial<TruthFrame>, argument: string): void {
  const whole = { sequence: "street", frame: 0, coordinates: [BOX], ...frame };
  assert.throws(
    () => checkFrame(whole, 4),
    (error) => error instanceof InputError && error.argument === argument,
  );
}

test("columns of another length or type than the objects are refused by name", () => {
  refused({ coordinates: [[1, 2]] }, "coordinates");
  refused({ coordinates: new Float64Array(3) }, "coordinates");
  refused({ coordinates: [["1", 2, 3, 4] as unknown as number[]] }, "coordinates");
  refused({ coordinates: Array(4).fill(Object.assign(new Array(4), [1, 2, 3])) }, "coordinates");
  refused({ labels: [] }, "labels");
  refused({ labels: "C" as unknown as string[] }, "labels");
  refused({ confidences: [0.5, 0.5] }, "confidences");
  refused({ trackIds: [0.5] }, "trackIds");
  refused({ flags: [-1] }, "flags");
  refused({ frame: 0.5 }, "frame");
  refused({ frame: 2n ** 63n }, "frame");
  refused({ sequence: "\ud800" }, "sequence");
});

test("what is refused is told as it is", () => {
  const told = (frame: object, message: string) =>
    assert.throws(
      () => checkFrame({ sequence: "street", frame: 0, coordinates: [BOX], ...frame }, 4),
      { message },
    );
  told({ labels: ["\ud800"] }, "labels: found half of a surrogate pair, expected a Unicode string");
  told({ confidences: 0.5 }, "confidences: found one number, expected 1, one for each object");
  told({ frame: 2 ** 53 }, `frame: found ${2 ** 53}, expected a safe integer, or a bigint`);
});

test("columns that are null, as JSON writes what is not there, are left out", () => {
  const nothing = { labels: null, confidences: null, masks: null, timeS: null } as object;
  const checked = checkFrame({ sequence: "street", frame: 0, coordinates: [BOX], ...nothing }, 4);
  assert.deepEqual(
    [checked.labels, checked.confidences, checked.masks, checked.timeS],
    [undefined, undefined, undefined, undefined],
  );
});

test("a frame is copied, so that the caller may reuse its arrays", () => {
  const coordinates = [[...BOX]];
  const checked = checkFrame({ sequence: "street", frame: 0, coordinates }, 4);
  (coordinates[0] as number[])[0] = 99;
  assert.deepEqual(checked.coordinates, BOX);
});

test("a Float64Array holds one object after the other", () => {
  const coordinates = new Float64Array([...BOX, 5, 6, 7, 8]);
  assert.equal(checkFrame({ sequence: "street", frame: 0, coordinates }, 4).objectCount, 2);
});

test("names are sent once, and columns that hold defaults alone not at all", () => {
  const frames: TruthFrame[] = [
    { sequence: "a", frame: 0, coordinates: [BOX, BOX], labels: ["Car", "Bus"] },
    { sequence: "a", frame: 1, coordinates: [] },
    { sequence: "b", frame: 0, coordinates: [BOX], labels: ["Car"], domain: "Tower" },
  ];
  const message = encodeFrames(
    frames.map((frame) => checkFrame(frame, 4)),
    4,
  );
  assert.deepEqual(
    message.sequences.map(({ domain, sequence }) => [domain, sequence]),
    [
      ["", "a"],
      ["Tower", "b"],
    ],
  );
  assert.deepEqual(message.frameSequences, [0, 0, 1]);
  assert.deepEqual(message.frameNumbers, [0n, 1n, 0n]);
  assert.deepEqual(message.frameObjectCounts, [2, 0, 1]);
  assert.deepEqual(message.labels, ["Car", "Bus"]);
  assert.deepEqual(message.labelIndices, [0, 1, 0]);
  assert.deepEqual(
    [message.confidences, message.trackIds, message.objectFlags, message.frameFlags],
    [[], [], [], []],
  );
  assert.deepEqual(message.frameTimesS, []);
});

test("a column that one frame has is filled with its default for the others", () => {
  const frames: TruthFrame[] = [
    { sequence: "a", frame: 0, coordinates: [BOX] },
    { sequence: "a", frame: 1, coordinates: [BOX], confidences: [0.5], trackIds: [3], flags: [1] },
    { sequence: "a", frame: 2, coordinates: [], dontCare: true, timeS: 1.5 },
  ];
  const message = encodeFrames(
    frames.map((frame) => checkFrame(frame, 4)),
    4,
  );
  assert.deepEqual(message.confidences, [1, 0.5]);
  assert.deepEqual(message.trackIds, [-1n, 3n]);
  assert.deepEqual(message.objectFlags, [0, 1]);
  assert.deepEqual(message.frameFlags, [0, 0, 1]);
  assert.deepEqual(message.frameTimesS, [Number.NaN, Number.NaN, 1.5]);
});

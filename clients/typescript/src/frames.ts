/** Frames as a live loop gives them, and their encoding as one message. */

import { create } from "@bufbuild/protobuf";
import { InputError } from "./errors.js";
import {
  type AnnotationBatch,
  AnnotationBatchSchema,
  Geometry as WireGeometry,
} from "./gen/vidscore/v1/annotations_pb.js";
import { type CheckedMask, checkMask, type Mask, maskSize } from "./masks.js";

/** The side of frames. */
export type Side = "truth" | "detections";

/** Shape of objects: `x, y`; `x1, y1, x2, y2`; or `x1, y1, ..., x4, y4`. */
export type Geometry = "point" | "box" | "quadrilateral";

/** Bits of an object of the truth. */
export const ObjectFlag = { IGNORE: 1, CROWD: 2, REGION: 4, DISTRACTOR: 8 } as const;

/** One whole frame of detections; a frame without objects has empty `coordinates`. */
export interface Frame {
  /** Name of the video. */
  readonly sequence: string;
  /** Number of the frame; each is sent once per side, in any order. */
  readonly frame: number | bigint;
  /** Domain of the video, if there are several. */
  readonly domain?: string;
  /** Capture time of the frame, in seconds on any one clock; left out: unknown. */
  readonly timeS?: number;
  /**
   * The 2, 4 or 8 pixels of each object; or all of them in one array, one object after the other.
   */
  readonly coordinates: readonly (readonly number[])[] | Float64Array;
  /** Class of each object; left out if there are no classes. */
  readonly labels?: readonly string[];
  /** Confidence of each object, the greater the surer; left out: all 1. */
  readonly confidences?: ArrayLike<number>;
  /** Track id of each object, -1 for none; left out: all -1. */
  readonly trackIds?: ArrayLike<number | bigint>;
  /** Mask of each object, which must be a box; left out: there are none. */
  readonly masks?: readonly Mask[];
}

/** One whole frame of the truth. */
export interface TruthFrame extends Frame {
  /** Bits of {@link ObjectFlag} of each object; left out: all 0. */
  readonly flags?: ArrayLike<number>;
  /** Whether the frame is left out of all counts. */
  readonly dontCare?: boolean;
}

/** A checked copy of a frame, so that the caller may reuse its arrays. */
export interface CheckedFrame {
  readonly domain: string;
  readonly sequence: string;
  readonly number: bigint;
  readonly arity: number;
  readonly objectCount: number;
  readonly coordinates: readonly number[];
  readonly labels: readonly string[] | undefined;
  readonly confidences: readonly number[] | undefined;
  readonly trackIds: readonly bigint[] | undefined;
  readonly flags: readonly number[] | undefined;
  readonly frameFlags: number;
  readonly timeS: number | undefined;
  readonly masks: readonly CheckedMask[] | undefined;
}

/** @internal */
export const WIRE_GEOMETRIES: Readonly<Record<Geometry, WireGeometry>> = {
  point: WireGeometry.POINT,
  box: WireGeometry.BOX,
  quadrilateral: WireGeometry.QUADRILATERAL,
};

const ARITIES: Readonly<Record<Geometry, number>> = { point: 2, box: 4, quadrilateral: 8 };
const DONT_CARE = 1;
// Maximum bytes that a frame adds to a message, without its objects: number 8, time 8, and 8 for
// row of its sequence, count of objects and flags.
const FRAME_BYTES = 24;
const OBJECT_BYTES = 24; // confidence 8, track id 10, label 5, flags 1
const GREATEST_FRAME = 2n ** 63n;

/** Number of coordinates of an object of a shape. */
export function arityOf(name: string, geometry: Geometry): number {
  const arity = ARITIES[geometry];
  if (arity === undefined) {
    throw new InputError(name, JSON.stringify(geometry), Object.keys(ARITIES).join(", "));
  }
  return arity;
}

/** The shape of a number on the wire. */
export function geometryOf(wire: WireGeometry): Geometry | undefined {
  const names = Object.keys(WIRE_GEOMETRIES) as Geometry[];
  return names.find((name) => WIRE_GEOMETRIES[name] === wire);
}

/**
 * Check the shapes and lengths of a frame, and copy it.
 *
 * @throws InputError if a column has the wrong shape or length.
 */
export function checkFrame(frame: TruthFrame, arity: number): CheckedFrame {
  const coordinates = flatten(frame.coordinates, arity);
  const count = coordinates.length / arity;
  return {
    domain: requireText("domain", frame.domain ?? ""),
    sequence: requireText("sequence", frame.sequence),
    number: requireWhole("frame", frame.frame),
    arity,
    objectCount: count,
    coordinates,
    labels: column("labels", frame.labels, count, requireText),
    confidences: column("confidences", frame.confidences, count, requireNumber),
    trackIds: column("trackIds", frame.trackIds, count, requireWhole),
    flags: column("flags", frame.flags, count, requireBits),
    frameFlags: frame.dontCare ? DONT_CARE : 0,
    timeS: frame.timeS == null ? undefined : requireNumber("timeS", frame.timeS),
    masks: column("masks", frame.masks, count, checkMask),
  };
}

/** Maximum bytes of the message that a frame would make, without its tables of names. */
export function frameSize(frame: CheckedFrame): number {
  const masks = (frame.masks ?? []).map(maskSize).reduce((sum, size) => sum + size, 0);
  return FRAME_BYTES + (OBJECT_BYTES + 8 * frame.arity) * frame.objectCount + masks;
}

/** Frames as the columns of one message; columns with only default values are left out. */
export function encodeFrames(frames: readonly CheckedFrame[], arity: number): AnnotationBatch {
  const sequences = new Table<{ domain: string; sequence: string }>();
  const labels = new Table<string>();
  const message = create(AnnotationBatchSchema, {
    frameSequences: frames.map(({ domain, sequence }) =>
      sequences.row(JSON.stringify([domain, sequence]), { domain, sequence }),
    ),
    frameNumbers: frames.map((frame) => frame.number),
    frameObjectCounts: frames.map((frame) => frame.objectCount),
    frameFlags: unlessAll(
      0,
      frames.map((frame) => frame.frameFlags),
    ),
    geometry: WIRE_GEOMETRIES[geometryOfArity(arity)],
    coordinates: frames.flatMap((frame) => frame.coordinates),
    labelIndices: join(frames, (frame) => frame.labels, "").map((name) => labels.row(name, name)),
    confidences: unlessAll(
      1,
      join(frames, (frame) => frame.confidences, 1),
    ),
    trackIds: unlessAll(
      -1n,
      join(frames, (frame) => frame.trackIds, -1n),
    ),
    objectFlags: unlessAll(
      0,
      join(frames, (frame) => frame.flags, 0),
    ),
    frameTimesS: frames.every((frame) => Number.isNaN(frame.timeS ?? Number.NaN))
      ? []
      : frames.map((frame) => frame.timeS ?? Number.NaN),
  });
  message.sequences = sequences.entries.map((key) => ({
    $typeName: "vidscore.v1.SequenceKey",
    ...key,
  }));
  setMasks(message, frames);
  message.labels = labels.entries;
  message.labelIndices = unlessAll(0, message.labelIndices);
  return message;
}

function setMasks(message: AnnotationBatch, frames: readonly CheckedFrame[]): void {
  const masks = frames.flatMap((frame) => frame.masks ?? []);
  message.maskHeights = masks.map(({ height }) => height);
  message.maskWidths = masks.map(({ width }) => width);
  message.maskRunCounts = masks.map(({ runs }) => runs.length);
  message.maskRuns = masks.flatMap(({ runs }) => runs);
}

/** Names, each once, in the order in which they first appear. */
class Table<Entry> {
  readonly entries: Entry[] = [];
  readonly #rows = new Map<string, number>();

  row(key: string, entry: Entry): number {
    const known = this.#rows.get(key);
    if (known !== undefined) {
      return known;
    }
    this.#rows.set(key, this.entries.length);
    return this.entries.push(entry) - 1;
  }
}

function geometryOfArity(arity: number): Geometry {
  const names = Object.keys(ARITIES) as Geometry[];
  return names.find((name) => ARITIES[name] === arity) as Geometry;
}

function join<Value>(
  frames: readonly CheckedFrame[],
  of: (frame: CheckedFrame) => readonly Value[] | undefined,
  missing: Value,
): Value[] {
  return frames.flatMap((frame) => of(frame) ?? Array(frame.objectCount).fill(missing));
}

function unlessAll<Value>(standard: Value, values: Value[]): Value[] {
  return values.every((value) => value === standard) ? [] : values;
}

/** A number with its noun: `1 frame`, `2 frames`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function flatten(coordinates: Frame["coordinates"], arity: number): number[] {
  if (coordinates instanceof Float64Array) {
    if (coordinates.length % arity !== 0) {
      throw new InputError(
        "coordinates",
        counted(coordinates.length, "number"),
        `${arity} per object`,
      );
    }
    return [...coordinates];
  }
  if (!Array.isArray(coordinates)) {
    throw new InputError("coordinates", typeof coordinates, "an array, or a Float64Array");
  }
  for (const object of coordinates) {
    if (!Array.isArray(object) || object.length !== arity) {
      const found = Array.isArray(object) ? counted(object.length, "coordinate") : typeof object;
      throw new InputError("coordinates", found, `${arity} coordinates per object`);
    }
  }
  // Not by `flat`, which leaves out the holes of an array.
  return coordinates.flatMap((object) =>
    Array.from(object, (value) => requireNumber("coordinates", value)),
  );
}

function column<Given, Value>(
  name: string,
  values: ArrayLike<Given> | undefined,
  count: number,
  check: (name: string, value: Given) => Value,
): Value[] | undefined {
  if (values === undefined || values === null) {
    return undefined;
  }
  if (typeof values !== "object" || values.length !== count) {
    const found =
      typeof values === "object" ? counted(values.length, "value") : `one ${typeof values}`;
    throw new InputError(name, found, `${count}, one for each object`);
  }
  return Array.from(values, (value) => check(name, value));
}

function requireText(name: string, value: unknown): string {
  // Half of a surrogate pair is not valid Unicode and cannot be sent.
  if (typeof value === "string" && !/\p{Surrogate}/u.test(value)) {
    return value;
  }
  const found = typeof value === "string" ? "half of a surrogate pair" : typeof value;
  throw new InputError(name, found, "a Unicode string");
}

function requireNumber(name: string, value: unknown): number {
  if (typeof value !== "number") {
    throw new InputError(name, typeof value, "a number");
  }
  return value;
}

function requireBits(name: string, value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value >= 2 ** 32) {
    throw new InputError(name, String(value), "bits of ObjectFlag");
  }
  return value;
}

function requireWhole(name: string, value: unknown): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value)) {
    return BigInt(value);
  }
  if (typeof value === "bigint" && value >= -GREATEST_FRAME && value < GREATEST_FRAME) {
    return value;
  }
  const expected = typeof value === "number" ? "a safe integer, or a bigint" : "a 64-bit integer";
  throw new InputError(name, String(value), expected);
}

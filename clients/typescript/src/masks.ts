/** Masks of objects: runs of pixels, and the compressed text of COCO's tools for them. */

import { InputError } from "./errors.js";

/** The pixels of an object in an image. */
export interface Mask {
  /** Height of the image in pixels. */
  readonly height: number;
  /** Width of the image in pixels. */
  readonly width: number;
  /**
   * Lengths of alternating runs of pixels outside and inside the object, beginning outside, column
   * after column, which fill the image; or the compressed text that COCO's tools write for them.
   */
  readonly counts: ArrayLike<number> | string;
}

/** @internal */
export interface CheckedMask {
  readonly height: number;
  readonly width: number;
  readonly runs: readonly number[];
}

const ZERO = 48;
const DIGIT = 31;
const SIGN = 16;
const MORE = 32;
const BASE = 32;
const LONGEST_NUMBER = 8; // maximum characters of the difference of two runs
const MASK_BYTES = 15; // maximum of height, width and the number of runs
const RUN_BYTES = 5;
const GREATEST = 2 ** 32 - 1;

/**
 * Check the numbers of a mask, and copy it.
 *
 * @throws InputError if it is invalid.
 * @internal
 */
export function checkMask(name: string, mask: Mask): CheckedMask {
  if (typeof mask !== "object" || mask === null) {
    throw new InputError(name, typeof mask, "an object with height, width and counts");
  }
  const { height, width, counts } = mask;
  const numbers = typeof counts === "string" ? runsOfText(name, counts) : Array.from(counts ?? []);
  for (const number of [height, width]) {
    requireCount(name, number);
  }
  for (const number of numbers) {
    requireCount(name, number);
  }
  return { height, width, runs: numbers };
}

/** Maximum bytes that a mask adds to a message. @internal */
export function maskSize(mask: CheckedMask): number {
  return MASK_BYTES + RUN_BYTES * mask.runs.length;
}

/**
 * Runs of a compressed text: digits of five bits, the lowest first. From the fourth number on, each
 * is the difference to the run before the last one.
 */
function runsOfText(name: string, text: string): number[] {
  const runs: number[] = [];
  for (let place = 0; place < text.length; ) {
    let number = 0;
    let length = 0;
    let character = MORE;
    while (character & MORE) {
      character = text.charCodeAt(place++) - ZERO;
      if (!(character >= 0 && character <= DIGIT + MORE) || length === LONGEST_NUMBER) {
        throw new InputError(name, JSON.stringify(text.slice(0, 80)), "a compressed text of runs");
      }
      number += (character & DIGIT) * BASE ** length++;
    }
    if (character & SIGN) {
      number -= BASE ** length;
    }
    runs.push(number + (runs.length > 2 ? (runs[runs.length - 2] as number) : 0));
  }
  return runs;
}

function requireCount(name: string, value: unknown): void {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > GREATEST) {
    throw new InputError(name, String(value), "integers from 0 to 4294967295");
  }
}

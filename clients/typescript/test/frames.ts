import { type CheckedFrame, checkFrame } from "../src/frames.js";

/** A frame with one box. */
export function frame(number: number): CheckedFrame {
  return checkFrame({ sequence: "street", frame: number, coordinates: [[0, 0, 1, 1]] }, 4);
}

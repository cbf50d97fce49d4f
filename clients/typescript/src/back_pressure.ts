/** What becomes of a frame where the queue is full. */

import type { Bell } from "./bell.js";
import { BackPressureError } from "./errors.js";
import type { CompleteBatching } from "./settings.js";

/**
 * Get a frame into a queue: at once, or as the policy says where the queue is full.
 *
 * @param admit - Takes the frame in where there is room; tells whether there was.
 * @param bell - Rings when there may be room; rung for whoever sends.
 * @param fullness - Says how full the queue is.
 * @throws BackPressureError if there was no room, or none in time.
 */
export async function queueFrame(
  admit: () => boolean,
  bell: Bell,
  batching: CompleteBatching,
  fullness: () => string,
): Promise<void> {
  if (!admit()) {
    const { policy, blockTimeoutMs } = batching;
    const waits = policy === "block";
    if (!waits || !(await bell.until(admit, blockTimeoutMs))) {
      const waited = waits ? ` for ${Number(blockTimeoutMs) / 1000} s` : "";
      throw new BackPressureError(`the queue has been full${waited}: ${fullness()}`);
    }
  }
  bell.ring();
}

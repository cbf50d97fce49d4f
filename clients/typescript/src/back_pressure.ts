/** What happens to a frame if the queue is full. */

import { BackPressureError } from "./errors.js";
import type { CompleteBatching } from "./settings.js";
import type { WakeUpEvent } from "./wake_up_event.js";

/**
 * Put a frame into a queue: at once, or, if the queue is full, as the policy says.
 *
 * @param admit - Accepts the frame if there is room; returns whether there was.
 * @param wakeUp - Signalled when there may be room; signalled for the sender.
 * @param fullness - Returns a text that says how full the queue is.
 * @throws BackPressureError if there was no room, or none in time.
 */
export async function queueFrame(
  admit: () => boolean,
  wakeUp: WakeUpEvent,
  batching: CompleteBatching,
  fullness: () => string,
): Promise<void> {
  if (!admit()) {
    const { policy, blockTimeoutMs } = batching;
    const waits = policy === "block";
    if (!waits || !(await wakeUp.until(admit, blockTimeoutMs))) {
      const waited = waits ? ` for ${Number(blockTimeoutMs) / 1000} s` : "";
      throw new BackPressureError(`the queue was full${waited}: ${fullness()}`);
    }
  }
  wakeUp.signal();
}

/** Signals to end something early, and putting several into one. */

import { setMaxListeners } from "node:events";

/** What can be given up while it runs. */
export interface Abortable {
  /** Ends the call or the wait with `CallCancelledError`, or a stream at once, when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * `AbortSignal.any`, which Node.js has from 20.3 on only. To abort the controller lets go of the
 * signals, too: whoever makes many of a signal that lives long has to.
 */
export function anyOf(
  signals: readonly (AbortSignal | undefined)[],
  controller = new AbortController(),
): AbortSignal {
  for (const signal of signals) {
    if (signal?.aborted) {
      controller.abort(signal.reason);
    }
    signal?.addEventListener("abort", () => controller.abort(signal.reason), {
      once: true,
      signal: controller.signal,
    });
    if (signal !== undefined) {
      listenedToByMany(signal);
    }
  }
  return controller.signal;
}

/** Node.js warns of a leak where more than ten calls listen to one signal at once. */
export function listenedToByMany(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** Signals that end something early, and combining several into one. */

import { setMaxListeners } from "node:events";

/** Options of calls and waits that can be cancelled. */
export interface Abortable {
  /**
   * When it aborts, the call or the wait ends with `CallCancelledError`, or the stream ends at
   * once.
   */
  readonly signal?: AbortSignal | undefined;
}

/**
 * `AbortSignal.any`, which Node.js has only from 20.3 on. Aborting the controller also releases the
 * signals; callers that derive many from one long-lived signal must do so.
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

/** Node.js warns of a leak if more than ten calls listen to one signal at the same time. */
export function listenedToByMany(signal: AbortSignal): void {
  setMaxListeners(0, signal);
}

/** When a call is made again; pure: whoever drives it passes the time and does the waiting. */

import { InternalError, UnavailableError, type VidscoreError } from "./errors.js";
import type { CompleteRetry } from "./settings.js";

/** Codes of a connection that broke, of whatever hop, and of a server that is restarted. */
const BREAKS = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"]);

/** Reasons of a server that go with another offset, or with time. */
const PASSING_REASONS = new Set(["OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL"]);

/** Whether the same may succeed over another connection, or later. */
export function isBreak(error: VidscoreError): boolean {
  if (error.retryDelayMs !== null) {
    return true; // the server itself says so
  }
  if (error instanceof InternalError && "incident" in error.metadata) {
    return false; // the server itself failed at this very request, and would again
  }
  return BREAKS.has(error.code) || PASSING_REASONS.has(error.reason);
}

/** The break of a call that the server ended well, but before it was done. */
export function endedEarly(): UnavailableError {
  return new UnavailableError("the server ended the call", { code: "UNAVAILABLE" });
}

/** Counts tries. */
export class Retrying {
  readonly #retry: CompleteRetry;
  readonly #chance: () => number;
  #breaks = 0;
  #sinceMs: number | null = null;

  /** @param chance - Numbers from 0 to 1, so that many clients do not come back all at once. */
  constructor(retry: CompleteRetry, chance: () => number = Math.random) {
    this.#retry = retry;
    this.#chance = chance;
  }

  /** Note that something has succeeded. */
  progress(): void {
    this.#breaks = 0;
    this.#sinceMs = null;
  }

  /**
   * Milliseconds to wait before the next try; no less than the server wants.
   *
   * @throws the error, where another try makes no sense or takes too long.
   */
  delayMs(error: VidscoreError, nowMs: number): number {
    if (!isBreak(error)) {
      throw error;
    }
    return this.delayMsAgain(error, nowMs);
  }

  /** The same where the next try may succeed, whatever the error is. */
  delayMsAgain(error: VidscoreError, nowMs: number): number {
    this.#sinceMs ??= nowMs;
    const { giveUpAfterMs } = this.#retry;
    const wantedMs = error.retryDelayMs ?? 0;
    const leftMs =
      giveUpAfterMs === null ? Number.POSITIVE_INFINITY : giveUpAfterMs - (nowMs - this.#sinceMs);
    if ((leftMs <= 0 && this.#breaks > 0) || wantedMs > leftMs) {
      throw error;
    }
    this.#breaks += 1;
    return Math.max(wantedMs, this.#ownDelayMs());
  }

  #ownDelayMs(): number {
    if (this.#breaks === 1) {
      return 0;
    }
    const { initialMs, maximumMs } = this.#retry;
    const wholeMs = Math.min(maximumMs, initialMs * 2 ** Math.min(this.#breaks - 2, 60));
    return (wholeMs * (1 + this.#chance())) / 2;
  }
}

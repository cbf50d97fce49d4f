/**
 * When to retry a call. It does no I/O and reads no clock: its caller passes the time and waits.
 */

import { InternalError, UnavailableError, type VidscoreError } from "./errors.js";
import type { CompleteRetry } from "./settings.js";

/** Codes of a connection that broke at any hop, and of a server that restarts. */
const BREAKS = new Set(["UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"]);

/** Reasons of a server that another offset, or time, resolves. */
const PASSING_REASONS = new Set(["OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL"]);

/** Whether the same call may succeed over another connection, or later. */
export function isBreak(error: VidscoreError): boolean {
  if (error.retryDelayMs !== null) {
    return true; // the server itself says so
  }
  if (error instanceof InternalError && "incident" in error.metadata) {
    return false; // the server itself failed at this request, and would again
  }
  return BREAKS.has(error.code) || PASSING_REASONS.has(error.reason);
}

/** The error of a call that the server ended without an error before it was done. */
export function endedEarly(): UnavailableError {
  return new UnavailableError("the server ended the call", { code: "UNAVAILABLE" });
}

/** Counts tries. */
export class Retrying {
  readonly #retry: CompleteRetry;
  readonly #chance: () => number;
  #breaks = 0;
  #sinceMs: number | null = null;

  /** @param chance - Numbers from 0 to 1, so that many clients do not return at the same time. */
  constructor(retry: CompleteRetry, chance: () => number = Math.random) {
    this.#retry = retry;
    this.#chance = chance;
  }

  /** Record that something has succeeded. */
  progress(): void {
    this.#breaks = 0;
    this.#sinceMs = null;
  }

  /**
   * Milliseconds to wait before the next try; at least as long as the server wants.
   *
   * @throws the error, if a retry is useless or would be too late.
   */
  delayMs(error: VidscoreError, nowMs: number): number {
    if (!isBreak(error)) {
      throw error;
    }
    return this.delayMsAgain(error, nowMs);
  }

  /** The same for an error after which the next try may succeed whatever its kind. */
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

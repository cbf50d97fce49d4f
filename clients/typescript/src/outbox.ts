/**
 * Frames that wait to be sent: batches them by size and time, and bounds memory.
 *
 * It does no I/O and reads no clock: its caller passes the time (milliseconds on any monotonic
 * clock) and does the waiting and the sending.
 */

import { type CheckedFrame, frameSize, type Side } from "./frames.js";
import type { CompleteBatching } from "./settings.js";

/** Frames of one side for one message. */
export interface Batch {
  readonly side: Side;
  readonly frames: readonly CheckedFrame[];
}

interface Gathering {
  readonly side: Side;
  readonly frames: CheckedFrame[];
  readonly sinceMs: number;
  bytes: number;
  masked: boolean | undefined;
}

/** A bounded queue that batches frames. */
export class Outbox {
  #batching: CompleteBatching;
  readonly #gathering = new Map<Side, Gathering>();
  readonly #ready: Gathering[] = [];
  #frames = 0;
  #bytes = 0;

  /** Start empty. */
  constructor(batching: CompleteBatching) {
    this.#batching = batching;
  }

  /** Number of frames that wait. */
  get frames(): number {
    return this.#frames;
  }

  /** Time at which `take` has a batch; null if nothing waits. */
  get dueMs(): number | null {
    if (this.#ready.length > 0) {
      return Number.NEGATIVE_INFINITY;
    }
    const started = [...this.#gathering.values()].map(({ sinceMs }) => sinceMs);
    return started.length > 0 ? Math.min(...started) + this.#batching.batchIntervalMs : null;
  }

  /** Make no larger batches than a server accepts; returns whether earlier ones were larger. */
  limit(batchFrames: number, batchBytes: number): boolean {
    const before = this.#batching;
    this.#batching = {
      ...this.#batching,
      batchFrames: Math.min(this.#batching.batchFrames, batchFrames),
      batchBytes: Math.min(this.#batching.batchBytes, batchBytes),
    };
    return batchFrames < before.batchFrames || batchBytes < before.batchBytes;
  }

  /** Return the frames that were taken last, before all that wait, and batch all of them again. */
  putBack(batches: readonly Batch[], nowMs: number): void {
    this.flush();
    const waiting = [...batches, ...this.#ready.splice(0)];
    this.#frames = 0;
    this.#bytes = 0;
    for (const { side, frames } of waiting) {
      for (const frame of frames) {
        const size = frameSize(frame);
        this.#frames += 1;
        this.#bytes += size;
        this.#gather(side, frame, size, nowMs);
      }
      this.#finish(side);
    }
  }

  /** Accept a frame if there is room for it; returns whether there was. */
  offer(side: Side, frame: CheckedFrame, nowMs: number): boolean {
    const size = frameSize(frame);
    if (!this.#enter(1, size)) {
      return false;
    }
    this.#gather(side, frame, size, nowMs);
    return true;
  }

  /**
   * Accept frames that do not wait for others if there is room for all; returns whether there was.
   */
  offerAll(side: Side, frames: readonly CheckedFrame[], nowMs: number): boolean {
    const size = frames.reduce((sum, frame) => sum + frameSize(frame), 0);
    if (!this.#enter(frames.length, size)) {
      return false;
    }
    for (const frame of frames) {
      this.#gather(side, frame, frameSize(frame), nowMs);
    }
    this.#finish(side);
    return true;
  }

  /** Make all frames due now. */
  flush(): void {
    for (const side of [...this.#gathering.keys()]) {
      this.#finish(side);
    }
  }

  /** The next due batch. */
  take(nowMs: number): Batch | null {
    for (const { side, sinceMs } of [...this.#gathering.values()]) {
      if (nowMs >= sinceMs + this.#batching.batchIntervalMs) {
        this.#finish(side);
      }
    }
    const batch = this.#ready.shift();
    if (batch === undefined) {
      return null;
    }
    this.#frames -= batch.frames.length;
    this.#bytes -= batch.bytes;
    return batch;
  }

  #enter(count: number, bytes: number): boolean {
    const { queueFrames, queueBytes } = this.#batching;
    const full = this.#frames + count > queueFrames || this.#bytes + bytes > queueBytes;
    if (this.#frames > 0 && full) {
      return false;
    }
    this.#frames += count;
    this.#bytes += bytes;
    return true;
  }

  #gather(side: Side, frame: CheckedFrame, size: number, nowMs: number): void {
    const { batchFrames, batchBytes } = this.#batching;
    const masked = frame.objectCount > 0 ? frame.masks !== undefined : undefined;
    const waiting = this.#gathering.get(side);
    if (
      waiting !== undefined &&
      (waiting.bytes + size > batchBytes || differ(waiting.masked, masked))
    ) {
      this.#finish(side);
    }
    const open = this.#gathering.get(side) ?? emptyGathering(side, nowMs);
    this.#gathering.set(side, open);
    open.masked = masked ?? open.masked;
    open.frames.push(frame);
    open.bytes += size;
    if (open.frames.length >= batchFrames) {
      this.#finish(side);
    }
  }

  #finish(side: Side): void {
    const waiting = this.#gathering.get(side);
    if (waiting !== undefined) {
      this.#gathering.delete(side);
      this.#ready.push(waiting);
    }
  }
}

function emptyGathering(side: Side, sinceMs: number): Gathering {
  return { side, frames: [], sinceMs, bytes: 0, masked: undefined };
}

/** Whether frames cannot be in one message, where either all objects have masks or none has. */
function differ(one: boolean | undefined, other: boolean | undefined): boolean {
  return one !== undefined && other !== undefined && one !== other;
}

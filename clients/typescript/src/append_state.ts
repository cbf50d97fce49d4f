/**
 * The state of an append stream, without any I/O: the sender drives it.
 *
 * Frames go from the outbox into the window when they are sent, and stay there until the server has
 * acknowledged them. After a break the window is sent again from the server's next offset on, under
 * the epoch of the first opening: an older writer that returns never excludes a newer one.
 */

import {
  ClosedError,
  ConflictError,
  InternalError,
  SupersededError,
  type VidscoreError,
} from "./errors.js";
import { type CheckedFrame, counted, frameSize } from "./frames.js";
import type { StreamInfo } from "./hosting.js";
import { Outbox } from "./outbox.js";
import { isBreak, Retrying } from "./retrying.js";
import { type CompleteBatching, type CompleteDelivery, limitBatching } from "./settings.js";

/** Limits that fewer frames in a message may keep, although nobody knows how many. */
const MESSAGE_LIMITS: ReadonlySet<string> = new Set([
  "maximum_batch_labels",
  "maximum_batch_objects",
  "maximum_batch_sequences",
  "maximum_message_bytes",
  "maximum_unstored_bytes",
  "maximum_unstored_call_bytes",
  "maximum_unstored_team_bytes",
]);

/** Frames of one message, and the offset of the first one in the stream. */
export interface Sent {
  readonly offset: number;
  readonly frames: readonly CheckedFrame[];
}

/** The state of one append stream. */
export class AppendState {
  /** Frames that are known to be durable. */
  acknowledged: number;
  /** Frames that wait to be sent. */
  readonly outbox: Outbox;
  #closing = false;
  #ended = false;
  #broken = false;
  #error: VidscoreError | null = null;
  readonly #opened: StreamInfo;
  readonly #batching: CompleteBatching;
  readonly #delivery: CompleteDelivery;
  readonly #retrying: Retrying;
  #toSkip: number;
  #window: Sent[] = [];
  #windowFrames = 0;
  #windowBytes = 0;
  #tooLarge = false; // whether the server accepts smaller batches than those of the window
  #sent = 0; // batches of the window that were sent over the present connection
  #taken: number; // offset after the last frame that entered the window
  #quietSinceMs = 0;

  /**
   * @param opened - The stream as the server opened it.
   * @param replay - Whether the caller sends from its first frame again, so that frames that were
   *   durable at opening are left out.
   */
  constructor(
    opened: StreamInfo,
    batching: CompleteBatching,
    delivery: CompleteDelivery,
    replay: boolean,
  ) {
    this.acknowledged = opened.nextOffset;
    this.outbox = new Outbox(batching);
    this.#opened = opened;
    this.#batching = batching;
    this.#delivery = delivery;
    this.#retrying = new Retrying(delivery.retry);
    this.#toSkip = replay ? opened.nextOffset : 0;
    this.#taken = opened.nextOffset;
  }

  /** Whether no more frames are accepted. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether nothing more is delivered. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the next connection must first ask what is durable. */
  get broken(): boolean {
    return this.#broken;
  }

  /** Whether there is nothing to deliver, so that no connection is needed. */
  get idle(): boolean {
    return this.#window.length === 0 && this.outbox.frames === 0;
  }

  /** Whether every frame is durable, or the stream has failed. */
  get drained(): boolean {
    return this.#ended || this.idle;
  }

  /** Number of accepted frames that are not known to be durable. */
  get undelivered(): number {
    return this.#windowFrames + this.outbox.frames;
  }

  /** Time at which the connection counts as broken; null if no answer is due. */
  get stalledAtMs(): number | null {
    return this.#sent > 0 ? this.#quietSinceMs + this.#delivery.acknowledgeTimeoutMs : null;
  }

  /** Time at which `take` has a batch; null if nothing waits or the window is full. */
  get dueMs(): number | null {
    if (this.#sent < this.#window.length) {
      return Number.NEGATIVE_INFINITY;
    }
    return this.#hasRoom ? this.outbox.dueMs : null;
  }

  /**
   * Accept a frame if there is room.
   *
   * @returns whether it was accepted, or is durable already.
   * @throws the error with which the stream failed, or ClosedError if it has been closed.
   */
  admit(frame: CheckedFrame, nowMs: number): boolean {
    this.#refuseIfClosed();
    if (this.#toSkip > 0) {
      this.#toSkip -= 1;
      return true;
    }
    return this.outbox.offer("detections", frame, nowMs);
  }

  /**
   * Accept frames that do not wait for others, if there is room for all that are not durable yet.
   *
   * @returns whether they were accepted.
   * @throws as `admit`.
   */
  admitAll(frames: readonly CheckedFrame[], nowMs: number): boolean {
    this.#refuseIfClosed();
    const durable = Math.min(this.#toSkip, frames.length);
    const rest = frames.slice(durable);
    if (rest.length > 0 && !this.outbox.offerAll("detections", rest, nowMs)) {
      return false;
    }
    this.#toSkip -= durable;
    return true;
  }

  /** How full the queue and the window are, as text. */
  get fullness(): string {
    return (
      `${counted(this.outbox.frames, "frame")} to be sent and ${this.#windowFrames} to be ` +
      `acknowledged, queueFrames is ${this.#batching.queueFrames}, ` +
      `windowFrames is ${this.#delivery.windowFrames}`
    );
  }

  /** The next batch to send; null if none is due or the window is full. */
  take(nowMs: number): Sent | null {
    if (this.#ended || (this.#sent === this.#window.length && !this.#fill(nowMs))) {
      return null;
    }
    if (this.#sent === 0) {
      this.#quietSinceMs = nowMs;
    }
    this.#sent += 1;
    return this.#window[this.#sent - 1] as Sent;
  }

  /**
   * Drop the frames before an offset, which are durable.
   *
   * @returns whether any of them were not known to be durable.
   * @throws InternalError if the server acknowledges frames that were never sent.
   */
  acknowledge(nextOffset: number, nowMs: number): boolean {
    if (nextOffset > this.#taken) {
      throw new InternalError(
        `the server acknowledged ${counted(nextOffset, "frame")}, ` +
          `but only ${this.#taken} had been sent`,
      );
    }
    this.#quietSinceMs = nowMs;
    if (nextOffset <= this.acknowledged) {
      return false;
    }
    this.#retrying.progress();
    this.acknowledged = nextOffset;
    while (this.#window[0] !== undefined && end(this.#window[0]) <= nextOffset) {
      this.#release();
      this.#sent = Math.max(0, this.#sent - 1);
    }
    if (this.#window[0] !== undefined && this.#window[0].offset < nextOffset) {
      this.#cut(nextOffset);
    }
    return true;
  }

  /**
   * Resume over a new connection.
   *
   * @param known - The server's state of the stream; undefined if it has none.
   * @returns whether more frames are durable than before.
   * @throws SupersededError if a newer writer has opened the stream.
   * @throws ConflictError if the server has lost frames that it had acknowledged.
   */
  resume(known: StreamInfo | undefined, nowMs: number): boolean {
    if (known !== undefined && known.epoch !== this.#opened.epoch) {
      throw new SupersededError(
        `another writer has opened stream ${known.stream} with epoch ${known.epoch}; ` +
          `this writer has epoch ${this.#opened.epoch} and must stop`,
        { code: "ABORTED", reason: "EPOCH_STALE" },
      );
    }
    const found = known?.nextOffset ?? 0;
    if (found < this.acknowledged) {
      throw new ConflictError(
        `the server has ${counted(found, "frame")} of the stream but had acknowledged ` +
          `${this.acknowledged}: it has lost frames`,
        { reason: "STREAM_SET_BACK" },
      );
    }
    const grown = this.acknowledge(found, nowMs);
    this.#sent = 0;
    this.#broken = false;
    if (this.#tooLarge) {
      this.#putBack(nowMs);
    }
    return grown;
  }

  /** Record that the connection is gone. */
  disconnect(): void {
    this.#sent = 0;
  }

  /**
   * Record a break.
   *
   * @returns the milliseconds to wait before the next try.
   * @throws the error, if a retry is useless.
   */
  delayMs(error: VidscoreError, nowMs: number): number {
    this.#broken = true;
    this.#sent = 0;
    if (this.idle && isBreak(error)) {
      return 0; // without frames, there is nothing to retry
    }
    if (this.#cutSmaller(error)) {
      this.#tooLarge = true;
      return this.#retrying.delayMsAgain(error, nowMs);
    }
    return this.#retrying.delayMs(error, nowMs);
  }

  /** Make all frames due now. */
  flush(): void {
    this.outbox.flush();
  }

  /** Accept no more frames. */
  close(): void {
    this.#closing = true;
    this.flush();
  }

  /** Record the end of delivery; the first reason counts. */
  end(error: VidscoreError | null): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#closing = true;
      this.#error = error;
    }
  }

  /** Throw the error of the stream, if it failed. */
  throwError(): void {
    if (this.#error !== null) {
      throw this.#error;
    }
  }

  /** Throw the error of the stream, if it has undelivered frames. */
  checkDelivered(): void {
    if (!this.idle) {
      this.throwError();
    }
  }

  #refuseIfClosed(): void {
    this.throwError();
    if (this.#closing || this.#ended) {
      throw new ClosedError("the stream is closed and takes no more frames");
    }
  }

  get #hasRoom(): boolean {
    const { windowFrames, windowBytes } = this.#delivery;
    return (
      this.#window.length === 0 ||
      (this.#windowFrames < windowFrames && this.#windowBytes < windowBytes)
    );
  }

  #fill(nowMs: number): boolean {
    const batch = this.#hasRoom ? this.outbox.take(nowMs) : null;
    if (batch === null) {
      return false;
    }
    this.#hold({ offset: this.#taken, frames: batch.frames });
    this.#taken += batch.frames.length;
    return true;
  }

  #hold(batch: Sent, first = false): void {
    if (first) {
      this.#window.unshift(batch);
    } else {
      this.#window.push(batch);
    }
    this.#windowFrames += batch.frames.length;
    this.#windowBytes += size(batch);
  }

  #release(): Sent {
    const batch = this.#window.shift() as Sent;
    this.#windowFrames -= batch.frames.length;
    this.#windowBytes -= size(batch);
    return batch;
  }

  /**
   * Make smaller batches than one that a server refused; returns whether earlier ones were larger.
   */
  #cutSmaller(error: VidscoreError): boolean {
    const { limit, maximum } = error.metadata;
    if (limit === undefined || maximum === undefined || !/^[0-9]+$/.test(maximum)) {
      return false;
    }
    const kept = limitBatching(this.#batching, { [limit]: BigInt(maximum) });
    if (this.outbox.limit(kept.batchFrames, kept.batchBytes)) {
      return true;
    }
    const largest = Math.max(...this.#window.map(({ frames }) => frames.length));
    return (
      MESSAGE_LIMITS.has(limit) &&
      largest > 1 &&
      this.outbox.limit(Math.floor(largest / 2), Number.POSITIVE_INFINITY)
    );
  }

  /** Return unacknowledged frames to the outbox, to be cut again. */
  #putBack(nowMs: number): void {
    const batches = this.#window.map(({ frames }) => ({ side: "detections" as const, frames }));
    this.#taken = this.#window[0]?.offset ?? this.#taken;
    this.outbox.putBack(batches, nowMs);
    this.#window = [];
    this.#windowFrames = 0;
    this.#windowBytes = 0;
    this.#tooLarge = false;
  }

  /** Cut the oldest batch to its part from an offset on. */
  #cut(offset: number): void {
    const oldest = this.#release();
    this.#hold({ offset, frames: oldest.frames.slice(offset - oldest.offset) }, true);
  }
}

function end(batch: Sent): number {
  return batch.offset + batch.frames.length;
}

function size(batch: Sent): number {
  return batch.frames.reduce((sum, frame) => sum + frameSize(frame), 0);
}

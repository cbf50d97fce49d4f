/**
 * What an append stream knows, without any I/O.
 *
 * Frames go from the outbox into the window when they are sent, and stay there until the server
 * has acknowledged them. After a break the window is sent again from the server's next offset on,
 * under the epoch of the first opening: a younger writer is never shut out by an older one that
 * comes back.
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

/** Frames of one message, and the offset of the first of them in the stream. */
export interface Sent {
  readonly offset: number;
  readonly frames: readonly CheckedFrame[];
}

/** The state of one append stream. */
export class AppendState {
  /** Frames that are known to be durable. */
  acknowledged: number;
  /** What waits to be sent. */
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
  #tooLarge = false; // whether the server takes smaller batches than the window has
  #sent = 0; // how many batches of the window were sent over the present connection
  #taken: number; // offset after the last frame that entered the window
  #quietSinceMs = 0;

  /**
   * @param opened - The stream as the server opened it.
   * @param replay - Whether the caller sends from its first frame again, so that the frames that
   *   were durable at opening are to be left out.
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

  /** Whether no further frame is taken in. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether nothing more is delivered. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the next connection has to ask first what is durable. */
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

  /** Frames that were taken in and are not known to be durable. */
  get undelivered(): number {
    return this.#windowFrames + this.outbox.frames;
  }

  /** Time at which the connection counts as broken; null where no answer is due. */
  get stalledAtMs(): number | null {
    return this.#sent > 0 ? this.#quietSinceMs + this.#delivery.acknowledgeTimeoutMs : null;
  }

  /** Time at which `take` has something; null where nothing waits or the window is full. */
  get dueMs(): number | null {
    if (this.#sent < this.#window.length) {
      return Number.NEGATIVE_INFINITY;
    }
    return this.#hasRoom ? this.outbox.dueMs : null;
  }

  /**
   * Take in a frame where there is room; tells whether it was taken in, or is durable already.
   *
   * @throws what the stream failed with, or ClosedError if it has been closed.
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
   * Take in frames that do not wait for others, where there is room for all of them that are not
   * durable already; tells whether.
   *
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

  /** How full the queue and the window are, for people. */
  get fullness(): string {
    return (
      `${counted(this.outbox.frames, "frame")} to be sent and ${this.#windowFrames} to be ` +
      `acknowledged, queueFrames is ${this.#batching.queueFrames}, ` +
      `windowFrames is ${this.#delivery.windowFrames}`
    );
  }

  /** The next batch to send; null where none is due or the window is full. */
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
   * Let go of the frames before an offset, which are durable; tells whether there are any that
   * were not known to be.
   *
   * @throws InternalError if frames are said to be durable that were never sent.
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
   * Go on over a new connection; tells whether more frames are durable than was known.
   *
   * @param known - The stream as the server knows it; undefined where it does not.
   * @throws SupersededError if a younger writer has opened the stream.
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

  /** Note that nothing more comes over the connection there was. */
  disconnect(): void {
    this.#sent = 0;
  }

  /**
   * Note a break; gives the milliseconds to wait before going on.
   *
   * @throws the error, where there is no going on.
   */
  delayMs(error: VidscoreError, nowMs: number): number {
    this.#broken = true;
    this.#sent = 0;
    if (this.idle && isBreak(error)) {
      return 0; // there is nothing to try again until there are frames
    }
    if (this.#limit(error)) {
      this.#tooLarge = true;
      return this.#retrying.delayMsAgain(error, nowMs);
    }
    return this.#retrying.delayMs(error, nowMs);
  }

  /** Let nothing wait for others any longer. */
  flush(): void {
    this.outbox.flush();
  }

  /** Take in no more frames. */
  close(): void {
    this.#closing = true;
    this.flush();
  }

  /** Note that nothing more is delivered; the first one to say so is right. */
  end(error: VidscoreError | null): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#closing = true;
      this.#error = error;
    }
  }

  /** Throw what the stream failed with, if it did. */
  throwError(): void {
    if (this.#error !== null) {
      throw this.#error;
    }
  }

  /** Throw what the stream failed with, if there are frames that it has not delivered. */
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

  /** Keep to the limit that a server names in an error; tells whether batches were larger. */
  #limit(error: VidscoreError): boolean {
    const { limit, maximum } = error.metadata;
    if (limit === undefined || maximum === undefined || !/^[0-9]+$/.test(maximum)) {
      return false;
    }
    const kept = limitBatching(this.#batching, { [limit]: BigInt(maximum) });
    return this.outbox.limit(kept.batchFrames, kept.batchBytes);
  }

  /** Let the outbox cut again what is not acknowledged. */
  #putBack(nowMs: number): void {
    const batches = this.#window.map(({ frames }) => ({ side: "detections" as const, frames }));
    this.#taken = this.#window[0]?.offset ?? this.#taken;
    this.outbox.putBack(batches, nowMs);
    this.#window = [];
    this.#windowFrames = 0;
    this.#windowBytes = 0;
    this.#tooLarge = false;
  }

  /** Keep of the oldest batch what comes from an offset on. */
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

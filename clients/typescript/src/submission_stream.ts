/** A stream of detections into a submission. */

import type { Abortable } from "./aborting.js";
import type { Connection } from "./connection.js";
import { checkFrame, type Frame } from "./frames.js";
import type { Submission, SubmissionScore } from "./hosting.js";
import { type AppendPlan, Sender } from "./sender.js";
import type { Submissions, WatchOptions } from "./submissions.js";

/** How long to wait. */
export interface WaitOptions extends Abortable {
  /** Milliseconds; left out: only the limit of `Delivery.retry`. */
  readonly timeoutMs?: number;
}

/**
 * A stream of detections into a submission; made by `Client.submit`.
 *
 * Frames are sent again automatically after any break of the connection, from the first one that
 * the server lacks. They are sent in the order in which `send` was called; `await` it, because that
 * is how a slow server slows the caller down. The submission stays as it is until it is sealed;
 * `await using` closes the stream, which delivers all frames.
 */
export class SubmissionStream implements AsyncDisposable {
  /** Full name of the submission. */
  readonly submission: string;
  /**
   * Number of frames of the stream that were durable when it was opened, the offset from which to
   * continue.
   */
  readonly nextOffset: number;
  readonly #plan: AppendPlan;
  readonly #connection: Connection;
  readonly #submissions: Submissions;
  readonly #sender: Sender;

  /** @internal Use `Client.submit`. */
  constructor(plan: AppendPlan, connection: Connection, submissions: Submissions) {
    this.submission = plan.submission;
    this.nextOffset = plan.stream.nextOffset;
    this.#plan = plan;
    this.#connection = connection;
    this.#submissions = submissions;
    this.#sender = new Sender(plan, connection);
    connection.streams.add(this);
    plan.signal?.addEventListener("abort", this.#abort);
  }

  /** Number of frames of the stream that are known to be durable. */
  get acknowledgedFrames(): number {
    return this.#sender.state.acknowledged;
  }

  /**
   * Number of accepted frames that are not known to be durable; after the end, of dropped frames.
   */
  get undeliveredFrames(): number {
    return this.#sender.state.undelivered;
  }

  /**
   * Send one whole frame; resolves as soon as it is queued.
   *
   * @throws InputError if a column has the wrong shape or length.
   * @throws BackPressureError if the queue is full, as the policy says.
   * @throws SupersededError if a newer writer has opened the stream.
   * @throws VidscoreError the error with which the stream failed.
   */
  async send(frame: Frame): Promise<void> {
    await this.#sender.put(checkFrame(frame, this.#plan.arity));
  }

  /**
   * Send many whole frames, which do not wait for others; either all are queued or none. See
   * `send`.
   */
  async sendBatch(frames: readonly Frame[]): Promise<void> {
    const checked = frames.map((frame) => checkFrame(frame, this.#plan.arity));
    await this.#sender.putAll(checked);
  }

  /**
   * Wait until all sent frames are durable; resolves to the number of durable frames of the stream.
   *
   * @throws DeadlineError if they are not durable in time; the stream continues.
   * @throws VidscoreError the error with which the stream failed.
   */
  async flush(options: WaitOptions = {}): Promise<number> {
    await this.#sender.flush(options.timeoutMs ?? null, options.signal);
    return this.acknowledgedFrames;
  }

  /**
   * Deliver the accepted frames and end the stream; the submission stays open. It may be called
   * again; after `abort` it does nothing.
   *
   * @param options - `timeoutMs`: how long to wait; left out: `Delivery.closeTimeoutMs`.
   * @throws DeadlineError if frames are not durable in time; they are dropped, and the text and
   *   `undeliveredFrames` give their number.
   * @throws VidscoreError the error of the stream, if it had frames that are not durable.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    const { closeTimeoutMs } = this.#plan.delivery;
    try {
      await this.#sender.close(options.timeoutMs ?? closeTimeoutMs, options.signal);
    } finally {
      if (this.#sender.state.ended) {
        this.#forget();
      }
    }
  }

  /** End the stream at once and drop the frames that are not durable. */
  abort(): void {
    this.#sender.abort();
    this.#forget();
  }

  /**
   * Wait until all frames are durable, end the stream and seal the submission.
   *
   * @param expectedFrameCount - Number of frames that must be durable in all streams together; left
   *   out: any number.
   * @throws DeadlineError if they are not durable in time; the stream continues.
   * @throws ConflictError with reason `FRAME_COUNT_DIFFERS` if another number of frames is durable;
   *   nothing is sealed.
   */
  async seal(expectedFrameCount?: number, options: WaitOptions = {}): Promise<Submission> {
    await this.flush(options);
    await this.close();
    const { retry } = this.#plan.delivery;
    return this.#submissions.seal(this.submission, expectedFrameCount, retry, options);
  }

  /** Wait until the submission has ended; see `Submissions.wait`. */
  wait(options: WatchOptions = {}): Promise<Submission> {
    const { retry } = this.#plan.delivery;
    return this.#submissions.wait(this.submission, { retry, ...options });
  }

  /** The scores of the submission that the caller may see, newest first. */
  scores(options: Abortable = {}): Promise<SubmissionScore[]> {
    return this.#submissions.scores(this.submission, options);
  }

  readonly #abort = () => this.abort();

  /** Release everything that would keep a stream that has ended. */
  #forget(): void {
    this.#connection.streams.delete(this);
    this.#plan.signal?.removeEventListener("abort", this.#abort);
  }

  /** Close. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

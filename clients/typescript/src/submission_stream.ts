/** A stream of detections into a submission. */

import type { Abortable } from "./aborting.js";
import type { Connection } from "./connection.js";
import { checkFrame, type Frame } from "./frames.js";
import type { Submission, SubmissionScore } from "./hosting.js";
import { type AppendPlan, Sender } from "./sender.js";
import type { Submissions, WatchOptions } from "./submissions.js";

/** How long to wait. */
export interface WaitOptions extends Abortable {
  /** Milliseconds; left out: no limit but that of `Delivery.retry`. */
  readonly timeoutMs?: number;
}

/**
 * A stream of detections into a submission; made by `Client.submit`.
 *
 * Frames are sent again by themselves after any break of the connection, from the first one that
 * the server does not have. They are sent in the order in which `send` was called; `await` it:
 * that is how a slow server slows the caller. The submission stays as it is until it is sealed;
 * `await using` closes the stream, which delivers every frame.
 */
export class SubmissionStream implements AsyncDisposable {
  /** Full name of the submission. */
  readonly submission: string;
  /** Frames of the stream that were durable when it was opened; where to go on from. */
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

  /** Frames of the stream that are known to be durable. */
  get acknowledgedFrames(): number {
    return this.#sender.state.acknowledged;
  }

  /** Frames that were taken and are not known to be durable; after the end, given up. */
  get undeliveredFrames(): number {
    return this.#sender.state.undelivered;
  }

  /**
   * Send one whole frame; resolves as soon as it is queued.
   *
   * @throws InputError if a column has the wrong shape or length.
   * @throws BackPressureError if the queue is full, as the policy says.
   * @throws SupersededError if a younger writer has opened the stream.
   * @throws VidscoreError what the stream failed with.
   */
  async send(frame: Frame): Promise<void> {
    await this.#sender.put(checkFrame(frame, this.#plan.arity));
  }

  /** Send many whole frames, which do not wait for others; as `send`, all of them or none. */
  async sendBatch(frames: readonly Frame[]): Promise<void> {
    const checked = frames.map((frame) => checkFrame(frame, this.#plan.arity));
    await this.#sender.putAll(checked);
  }

  /**
   * Wait until every frame that was sent is durable; gives how many of the stream are.
   *
   * @throws DeadlineError if they are not in time; the stream goes on.
   * @throws VidscoreError what the stream failed with.
   */
  async flush(options: WaitOptions = {}): Promise<number> {
    await this.#sender.flush(options.timeoutMs ?? null, options.signal);
    return this.acknowledgedFrames;
  }

  /**
   * Deliver what was taken and end the stream; the submission stays open. It may be called again;
   * after `abort` it does nothing.
   *
   * @param options - `timeoutMs`: how long to wait; left out: `Delivery.closeTimeoutMs`.
   * @throws DeadlineError if frames are not durable in time; they are given up, and the text and
   *   `undeliveredFrames` say how many.
   * @throws VidscoreError what the stream failed with, if it had frames that are not durable.
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

  /** End the stream at once; frames that are not durable are given up. */
  abort(): void {
    this.#sender.abort();
    this.#forget();
  }

  /**
   * Wait until every frame is durable, end the stream and seal the submission.
   *
   * @param expectedFrameCount - Frames that must be durable in all streams together; left out:
   *   whatever is there.
   * @throws DeadlineError if they are not durable in time; the stream goes on.
   * @throws ConflictError if another number of frames is durable, with reason
   *   `FRAME_COUNT_DIFFERS`; nothing is sealed.
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

  /** What may be seen of the submission's scores, newest first. */
  scores(options: Abortable = {}): Promise<SubmissionScore[]> {
    return this.#submissions.scores(this.submission, options);
  }

  readonly #abort = () => this.abort();

  /** Let go of what would keep a stream that has ended. */
  #forget(): void {
    this.#connection.streams.delete(this);
    this.#plan.signal?.removeEventListener("abort", this.#abort);
  }

  /** Close. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** Delivers the frames of an append stream: connects, sends, and continues after breaks. */

import { AsyncLocalStorage } from "node:async_hooks";
import { create } from "@bufbuild/protobuf";
import { AppendState, type Sent } from "./append_state.js";
import { queueFrame } from "./back_pressure.js";
import { checksum } from "./checksum.js";
import type { Connection } from "./connection.js";
import {
  CallbackError,
  CallCancelledError,
  ClosedError,
  DeadlineError,
  InternalError,
  UnavailableError,
  VidscoreError,
} from "./errors.js";
import { type CheckedFrame, counted, encodeFrames } from "./frames.js";
import {
  type AppendRequest,
  AppendRequestSchema,
  SubmissionService,
} from "./gen/vidscore/v1/submission_service_pb.js";
import { decodeSubmission, type StreamInfo } from "./hosting.js";
import { endedEarly } from "./retrying.js";
import type { CompleteBatching, CompleteDelivery } from "./settings.js";
import { now, WakeUpEvent } from "./wake_up_event.js";

const JOIN_MS = 5_000; // how long closing waits for the server to end the call

/** An opened append stream, and how frames are delivered into it. */
export interface AppendPlan {
  /** Full name of the submission. */
  readonly submission: string;
  readonly stream: StreamInfo;
  /** Number of coordinates of a detection. */
  readonly arity: number;
  readonly batching: CompleteBatching;
  readonly delivery: CompleteDelivery;
  readonly replay: boolean;
  /** Aborts the stream. */
  readonly signal: AbortSignal | undefined;
}

/** The delivery over one connection. */
interface Call {
  readonly aborter: AbortController;
  stall: VidscoreError | null;
}

/** Delivers frames until it is closed or fails finally. */
export class Sender {
  /** The state of the stream. */
  readonly state: AppendState;
  readonly #plan: AppendPlan;
  readonly #connection: Connection;
  readonly #wakeUp = new WakeUpEvent();
  readonly #inCallback = new AsyncLocalStorage<boolean>();
  readonly #running: Promise<void>;
  #call: Call | null = null;
  #left = false; // whether this client has closed or aborted it

  /** Begin to deliver. */
  constructor(plan: AppendPlan, connection: Connection) {
    this.state = new AppendState(plan.stream, plan.batching, plan.delivery, plan.replay);
    this.#plan = plan;
    this.#connection = connection;
    connection.closing.addEventListener("abort", this.#closed);
    this.#running = this.#run();
  }

  /** Queue a frame; if the queue is full, do what the policy says. */
  async put(frame: CheckedFrame): Promise<void> {
    const admit = () => this.state.admit(frame, now());
    await queueFrame(admit, this.#wakeUp, this.#plan.batching, () => this.state.fullness);
  }

  /** Queue frames that do not wait for others; if the queue is full, do what the policy says. */
  async putAll(frames: readonly CheckedFrame[]): Promise<void> {
    const admit = () => this.state.admitAll(frames, now());
    await queueFrame(admit, this.#wakeUp, this.#plan.batching, () => this.state.fullness);
  }

  /** Wait until every frame is durable. */
  async flush(timeoutMs: number | null, signal?: AbortSignal): Promise<void> {
    this.#refuseInCallback();
    this.state.flush();
    this.#wakeUp.signal();
    if (!(await this.#drain(timeoutMs, signal))) {
      throw new DeadlineError(
        `not every frame was durable within ${Number(timeoutMs) / 1000} s; the stream continues`,
        { code: "DEADLINE_EXCEEDED" },
      );
    }
    this.state.checkDelivered();
  }

  /** Deliver all frames within a time, and end; do nothing if this client has ended the stream. */
  async close(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    this.#refuseInCallback();
    if (this.#left && this.state.ended) {
      return;
    }
    this.#left = true;
    this.state.close();
    this.#wakeUp.signal();
    try {
      if (!(await this.#drain(timeoutMs, signal))) {
        this.#end(notDelivered(this.state.undelivered, timeoutMs));
      }
    } catch (thrown) {
      this.abort();
      throw thrown;
    }
    await this.#wakeUp.until(() => this.state.ended, JOIN_MS);
    this.#end(null);
    await this.#running;
    this.state.checkDelivered();
  }

  /** End at once. */
  abort(): void {
    this.#left = true;
    this.#end(new ClosedError("the stream was aborted"));
  }

  #refuseInCallback(): void {
    if (this.#inCallback.getStore()) {
      throw new CallbackError(
        "flush, close and seal cannot be called in onAcknowledged: they would wait for themselves",
      );
    }
  }

  /**
   * Wait until all frames are durable or the stream has failed; returns whether that was in time.
   */
  async #drain(timeoutMs: number | null, signal?: AbortSignal): Promise<boolean> {
    const wake = () => this.#wakeUp.signal();
    signal?.addEventListener("abort", wake);
    try {
      const isOver = () => this.state.drained || signal?.aborted === true;
      const inTime = await this.#wakeUp.until(isOver, timeoutMs);
      if (!this.state.drained && signal?.aborted) {
        throw new CallCancelledError("the wait was cancelled by this client", {
          code: "CANCELLED",
        });
      }
      return inTime;
    } finally {
      signal?.removeEventListener("abort", wake);
    }
  }

  readonly #closed = () => this.#end(new ClosedError("the client is closed"));

  async #run(): Promise<void> {
    let error: VidscoreError | null = null;
    try {
      while (await this.#hasWork()) {
        await this.#deliver().catch((thrown) => this.#pause(thrown));
      }
    } catch (thrown) {
      error =
        thrown instanceof VidscoreError
          ? thrown
          : new InternalError(`frames could not be sent: ${thrown}`, { cause: thrown });
    }
    this.#end(error);
  }

  /** Wait until there is something to deliver or the stream has ended; returns whether there is. */
  async #hasWork(): Promise<boolean> {
    await this.#wakeUp.until(() => this.state.closing || !this.state.idle);
    return !this.state.drained;
  }

  async #pause(thrown: unknown): Promise<void> {
    const delayMs = this.state.delayMs(this.#connection.errorFrom(thrown), now());
    await this.#wakeUp.until(() => this.state.ended, delayMs);
  }

  async #deliver(): Promise<void> {
    const call: Call = { aborter: new AbortController(), stall: null };
    this.#call = call;
    try {
      if (this.state.broken) {
        await this.#resume(call);
      }
      await (this.#plan.delivery.unary ? this.#sendOneByOne(call) : this.#stream(call));
    } catch (thrown) {
      throw call.stall ?? thrown;
    } finally {
      this.#drop();
    }
  }

  async #resume(call: Call): Promise<void> {
    const { submission } = await this.#connection.run(
      (options) => this.#service.getSubmission({ name: this.#plan.submission }, options),
      call.aborter,
    );
    const name = this.#plan.stream.stream;
    const known = decodeSubmission(submission).streams.find(({ stream }) => stream === name);
    const grown = this.state.resume(known, now());
    this.#wakeUp.signal();
    if (grown) {
      await this.#tell();
    }
  }

  async #sendOneByOne(call: Call): Promise<void> {
    for await (const batch of this.#batches(call)) {
      const { nextOffset } = await this.#connection.run(
        (options) => this.#service.appendBatch(this.#append(batch), options),
        call.aborter,
      );
      await this.#acknowledge(nextOffset);
    }
  }

  async #stream(call: Call): Promise<void> {
    const watch = this.#watch(call);
    const { signal } = call.aborter;
    try {
      for await (const response of this.#service.appendFrames(this.#requests(call), { signal })) {
        await this.#acknowledge(response.nextOffset);
      }
    } finally {
      this.#drop();
      await watch;
    }
    if (!this.state.drained) {
      throw endedEarly();
    }
  }

  /** End a connection over which no answer comes. */
  async #watch(call: Call): Promise<void> {
    while (this.#call === call) {
      const { stalledAtMs } = this.state;
      if (stalledAtMs !== null && now() >= stalledAtMs) {
        const seconds = this.#plan.delivery.acknowledgeTimeoutMs / 1000;
        call.stall = new UnavailableError(`the server has acknowledged nothing for ${seconds} s`, {
          code: "UNAVAILABLE",
        });
        this.#drop();
        return;
      }
      await this.#wakeUp.wait(stalledAtMs === null ? null : stalledAtMs - now());
    }
  }

  async *#requests(call: Call): AsyncGenerator<AppendRequest, void, undefined> {
    for await (const batch of this.#batches(call)) {
      yield this.#append(batch);
    }
  }

  /** The due batches, as long as a call is the present one. */
  async *#batches(call: Call): AsyncGenerator<Sent, void, undefined> {
    while (this.#call === call && !this.#nothingToSend) {
      const batch = this.state.take(now());
      if (batch !== null) {
        this.#wakeUp.signal(); // there is room again
        yield batch;
      } else {
        const { dueMs } = this.state;
        await this.#wakeUp.wait(dueMs === null ? null : dueMs - now());
      }
    }
  }

  get #nothingToSend(): boolean {
    return this.state.ended || (this.state.closing && this.state.idle);
  }

  get #service() {
    return this.#connection.service(SubmissionService);
  }

  #append(batch: Sent): AppendRequest {
    const { submission, stream, arity } = this.#plan;
    const detections = encodeFrames(batch.frames, arity);
    return create(AppendRequestSchema, {
      stream: `${submission}/streams/${stream.stream}`,
      epoch: BigInt(stream.epoch),
      offset: BigInt(batch.offset),
      detections,
      detectionsCrc32: checksum(detections),
    });
  }

  async #acknowledge(nextOffset: bigint): Promise<void> {
    const grown = this.state.acknowledge(Number(nextOffset), now());
    this.#wakeUp.signal();
    if (grown) {
      await this.#tell();
    }
  }

  async #tell(): Promise<void> {
    const { onAcknowledged } = this.#plan.delivery;
    try {
      await this.#inCallback.run(true, async () => onAcknowledged?.(this.state.acknowledged));
    } catch (thrown) {
      throw new CallbackError(`onAcknowledged has thrown: ${thrown}`, thrown);
    }
  }

  /** Release the present call, if there is one. */
  #drop(): void {
    const call = this.#call;
    this.#call = null;
    this.state.disconnect();
    this.#wakeUp.signal();
    call?.aborter.abort();
  }

  #end(error: VidscoreError | null): void {
    this.#connection.closing.removeEventListener("abort", this.#closed);
    this.state.end(error);
    this.#drop();
  }
}

function notDelivered(frames: number, timeoutMs: number): DeadlineError {
  return new DeadlineError(
    `${counted(frames, "frame")} dropped: not durable within ${timeoutMs / 1000} s`,
    { code: "DEADLINE_EXCEEDED" },
  );
}

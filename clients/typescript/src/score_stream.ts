/** A stream that is scored while it runs; the server keeps nothing of it. */

import { AsyncLocalStorage } from "node:async_hooks";
import { create } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { anyOf } from "./aborting.js";
import { queueFrame } from "./back_pressure.js";
import type { Connection } from "./connection.js";
import {
  CallbackError,
  CallCancelledError,
  ClosedError,
  DeadlineError,
  InternalError,
  type VidscoreError,
} from "./errors.js";
import {
  arityOf,
  checkFrame,
  counted,
  encodeFrames,
  type Frame,
  type Geometry,
  type Side,
  type TruthFrame,
  WIRE_GEOMETRIES,
} from "./frames.js";
import {
  ScoreConfigurationSchema,
  type ScoreRequest,
  ScoreRequestSchema,
  type ScoreResponse,
  ScoringService,
} from "./gen/vidscore/v1/scoring_service_pb.js";
import { Outbox } from "./outbox.js";
import { decodeLiveReport, type LiveReport, Report } from "./reports.js";
import {
  type Batching,
  type CompleteBatching,
  type CompleteLive,
  callMs,
  completeBatching,
  completeLive,
  type Live,
  wholeMs,
} from "./settings.js";
import { type EvaluatorChoice, encodeSpecification, type Specification } from "./specification.js";
import { checkServer } from "./version.js";
import { now, WakeUpEvent } from "./wake_up_event.js";

/** What to score, and how. */
export interface ScoreStreamOptions {
  /** Facts that the data cannot give. */
  readonly specification?: Specification;
  /** Shape of the truth's objects. Default: `"box"`. */
  readonly truthGeometry?: Geometry;
  /** Shape of the detections. Default: `"box"`. */
  readonly detectionGeometry?: Geometry;
  /** When live reports are sent; left out: never. */
  readonly live?: Live;
  /** How frames are batched, and what happens if the server is slow. */
  readonly batching?: Batching;
  /** Timeout of the whole stream in milliseconds; left out: no limit. */
  readonly timeoutMs?: number;
  /** Cancels the stream. */
  readonly signal?: AbortSignal;
}

/**
 * A stream that is being scored; made by `Client.scoreStream`.
 *
 * Frames are sent in the order in which `send` and `sendTruth` were called. `await` them, because
 * that is how a slow server slows the caller down. A stream that is neither finished nor cancelled
 * continues until its client is closed; `await using` cancels it at the end of the block.
 */
export class ScoreStream implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #configuration: ScoreRequest;
  readonly #arities: Readonly<Record<Side, number>>;
  readonly #batching: CompleteBatching;
  readonly #live: CompleteLive | null;
  readonly #outbox: Outbox;
  readonly #wakeUp = new WakeUpEvent();
  readonly #call = new AbortController();
  readonly #inCallback = new AsyncLocalStorage<boolean>();
  #unread: LiveReport[] = [];
  #latest: LiveReport | null = null;
  #serverVersion = "";
  #limits: Readonly<Record<string, number>> | null = null;
  #reports: readonly Report[] | null = null;
  #closing = false;
  #ended = false;
  #error: VidscoreError | null = null;

  /** @internal Use `Client.scoreStream`. */
  constructor(
    connection: Connection,
    evaluators: readonly EvaluatorChoice[],
    options: ScoreStreamOptions,
  ) {
    const { truthGeometry = "box", detectionGeometry = "box" } = options;
    this.#connection = connection;
    this.#arities = {
      truth: arityOf("truthGeometry", truthGeometry),
      detections: arityOf("detectionGeometry", detectionGeometry),
    };
    this.#batching = completeBatching(options.batching);
    this.#live = options.live === undefined ? null : completeLive(options.live);
    this.#outbox = new Outbox(this.#batching);
    this.#configuration = configuration(evaluators, options, this.#live);
  }

  /** @internal Start the call and wait for the server to accept it. */
  async open(options: ScoreStreamOptions): Promise<this> {
    const { timeoutMs: given } = options;
    const limitMs = given === undefined ? undefined : wholeMs("timeoutMs", given);
    const signal = anyOf([this.#connection.closing, options.signal], this.#call);
    void this.#read(limitMs, signal);
    const { timeoutMs } = this.#connection;
    await this.#wakeUp.until(() => this.#limits !== null || this.#ended, timeoutMs);
    if (this.#limits === null) {
      this.#throwError();
      this.cancel();
      throw new DeadlineError(
        `the server has not accepted the stream within ${timeoutMs / 1000} s`,
        { code: "DEADLINE_EXCEEDED" },
      );
    }
    return this;
  }

  /** Version of the server. */
  get serverVersion(): string {
    return this.#serverVersion;
  }

  /** Limits of this stream, by the names of the server's settings. */
  get limits(): Readonly<Record<string, number>> {
    return this.#limits ?? {};
  }

  /** The newest live report; null before the first one. */
  get latest(): LiveReport | null {
    return this.#latest;
  }

  /**
   * Send one whole frame of the truth; resolves as soon as it is queued.
   *
   * @throws InputError if a column has the wrong shape or length.
   * @throws BackPressureError if the queue is full, as the policy says.
   * @throws VidscoreError the error with which the stream failed.
   */
  async sendTruth(frame: TruthFrame): Promise<void> {
    await this.#put("truth", frame);
  }

  /** Send one whole frame of detections; as `sendTruth`. */
  async send(frame: Frame): Promise<void> {
    await this.#put("detections", frame);
  }

  /**
   * Send many whole frames of a side, which do not wait for others; either all are queued or none.
   */
  async sendBatch(side: Side, frames: readonly TruthFrame[]): Promise<void> {
    const checked = frames.map((frame) => checkFrame(frame, this.#arities[side]));
    await this.#queue(() => this.#outbox.offerAll(side, checked, now()));
  }

  /**
   * Live reports as they come, until the stream ends. Each report goes to one reader.
   *
   * @throws VidscoreError the error with which the stream failed.
   */
  async *liveReports(): AsyncGenerator<LiveReport, void, undefined> {
    while (true) {
      await this.#wakeUp.until(() => this.#unread.length > 0 || this.#ended);
      const report = this.#unread.shift();
      if (report === undefined) {
        this.#throwError();
        return;
      }
      yield report;
    }
  }

  /**
   * Send the queued frames, end the input, and wait for the final reports: one for each evaluator,
   * in the requested order.
   *
   * @param options - `timeoutMs`: how long to wait; left out: only the stream's own limit.
   * @throws DeadlineError if they do not arrive in time; `finish` may be called again.
   * @throws VidscoreError the error with which the stream failed.
   */
  async finish(options: { readonly timeoutMs?: number } = {}): Promise<readonly Report[]> {
    if (this.#inCallback.getStore()) {
      throw new CallbackError("finish cannot be called in onReport: it would wait for itself");
    }
    this.#closing = true;
    this.#outbox.flush();
    this.#wakeUp.signal();
    if (!(await this.#wakeUp.until(() => this.#ended, options.timeoutMs ?? null))) {
      throw new DeadlineError(`no final report within ${Number(options.timeoutMs) / 1000} s`, {
        code: "DEADLINE_EXCEEDED",
      });
    }
    this.#throwError();
    return this.#reports ?? [];
  }

  /** End the stream at once, without a report; does nothing if it has ended. */
  cancel(): void {
    this.#end(
      new CallCancelledError("the stream was cancelled by this client", { code: "CANCELLED" }),
    );
    this.#call.abort();
  }

  /** Cancel, unless `finish` was called. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.cancel();
  }

  async #put(side: Side, frame: TruthFrame): Promise<void> {
    const checked = checkFrame(frame, this.#arities[side]);
    await this.#queue(() => this.#outbox.offer(side, checked, now()));
  }

  async #queue(offer: () => boolean): Promise<void> {
    const admit = () => {
      this.#throwError();
      if (this.#closing || this.#ended) {
        throw new ClosedError("the stream is finished and takes no more frames");
      }
      return offer();
    };
    await queueFrame(admit, this.#wakeUp, this.#batching, () => this.#fullness);
  }

  get #fullness(): string {
    const { queueFrames, queueBytes } = this.#batching;
    return (
      `${counted(this.#outbox.frames, "frame")} to be sent, ` +
      `queueFrames is ${queueFrames}, queueBytes is ${queueBytes}`
    );
  }

  async #read(timeoutMs: number | undefined, signal: AbortSignal): Promise<void> {
    let error: VidscoreError | null = null;
    try {
      const service = this.#connection.service(ScoringService);
      const options = { timeoutMs: callMs(timeoutMs), signal };
      for await (const response of service.score(this.#requests(), options)) {
        await this.#handle(response);
      }
    } catch (thrown) {
      error = this.#connection.errorFrom(thrown, signal);
    }
    this.#end(error);
    this.#call.abort();
  }

  /** The messages to send; they end with the call. */
  async *#requests(): AsyncGenerator<ScoreRequest, void, undefined> {
    yield this.#configuration;
    while (!this.#ended) {
      const batch = this.#outbox.take(now());
      if (batch !== null) {
        this.#wakeUp.signal(); // there is room again
        const value = encodeFrames(batch.frames, this.#arities[batch.side]);
        yield create(ScoreRequestSchema, { message: { case: batch.side, value } });
      } else if (this.#closing) {
        return;
      } else {
        const { dueMs } = this.#outbox;
        await this.#wakeUp.wait(dueMs === null ? null : dueMs - now());
      }
    }
  }

  async #handle({ message }: ScoreResponse): Promise<void> {
    switch (message.case) {
      case "started":
        checkServer(message.value.serverVersion);
        this.#serverVersion = message.value.serverVersion;
        this.#accept(message.value.limits);
        break;
      case "live":
        await this.#report(decodeLiveReport(message.value));
        break;
      case "final":
        this.#reports = message.value.reports.map((report) => new Report(report));
        break;
      default:
        throw new InternalError("the server sent a message that this client does not know");
    }
  }

  #accept(limits: Readonly<Record<string, bigint>>): void {
    this.#limits = Object.fromEntries(
      Object.entries(limits).map(([name, value]) => [name, Number(value)]),
    );
    const { maximum_batch_frames, maximum_message_bytes } = this.#limits;
    // The other half is for the tables of names, which the outbox does not count.
    const bytes = (maximum_message_bytes ?? Number.POSITIVE_INFINITY) / 2;
    this.#outbox.limit(maximum_batch_frames ?? Number.POSITIVE_INFINITY, bytes);
    this.#wakeUp.signal();
  }

  async #report(report: LiveReport): Promise<void> {
    this.#latest = report;
    this.#unread = [...this.#unread, report].slice(-(this.#live?.keepReports ?? 1));
    this.#wakeUp.signal();
    try {
      await this.#inCallback.run(true, async () => this.#live?.onReport?.(report));
    } catch (thrown) {
      throw new CallbackError(`onReport has thrown: ${thrown}`, thrown);
    }
  }

  #end(error: VidscoreError | null): void {
    if (!this.#ended) {
      this.#ended = true;
      this.#closing = true;
      const unfinished = error === null && this.#reports === null;
      this.#error = unfinished
        ? new InternalError("the server ended the stream without a final report")
        : error;
      this.#wakeUp.signal();
    }
  }

  #throwError(): void {
    if (this.#error !== null) {
      throw this.#error;
    }
  }
}

function configuration(
  evaluators: readonly EvaluatorChoice[],
  options: ScoreStreamOptions,
  live: CompleteLive | null,
): ScoreRequest {
  const value = create(ScoreConfigurationSchema, {
    specification: encodeSpecification(evaluators, options.specification),
    truthGeometry: WIRE_GEOMETRIES[options.truthGeometry ?? "box"],
    detectionGeometry: WIRE_GEOMETRIES[options.detectionGeometry ?? "box"],
    ...(live !== null && {
      liveReporting: {
        frameInterval: BigInt(live.everyFrames),
        summaryOnly: live.summaryOnly,
        ...(live.everyMs !== null && { timeInterval: durationFromMs(live.everyMs) }),
      },
    }),
  });
  return create(ScoreRequestSchema, { message: { case: "configuration", value } });
}

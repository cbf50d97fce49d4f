/** The connection to a server. */

import type { Abortable } from "./aborting.js";
import { Connection } from "./connection.js";
import { ConflictError, InputError, InternalError, NotFoundError } from "./errors.js";
import { decodeEvaluator, type EvaluatorDescription } from "./evaluators.js";
import { arityOf, type Frame, type TruthFrame } from "./frames.js";
import { BenchmarkService } from "./gen/vidscore/v1/benchmark_service_pb.js";
import { EvaluatorService } from "./gen/vidscore/v1/evaluator_service_pb.js";
import { ServerService } from "./gen/vidscore/v1/server_service_pb.js";
import { SubmissionService } from "./gen/vidscore/v1/submission_service_pb.js";
import { type Health, HealthService, healthName } from "./health.js";
import {
  type Benchmark,
  decodeBenchmark,
  decodeBoardRow,
  decodeStream,
  type Leaderboard,
  type Submission,
} from "./hosting.js";
import type { Report } from "./reports.js";
import { ScoreStream, type ScoreStreamOptions } from "./score_stream.js";
import { decodeServer, type ServerInfo } from "./servers.js";
import {
  type Batching,
  type ConnectOptions,
  completeBatching,
  completeDelivery,
  type Delivery,
  limitBatching,
} from "./settings.js";
import type { EvaluatorChoice } from "./specification.js";
import { SubmissionStream } from "./submission_stream.js";
import { benchmarkName, Submissions } from "./submissions.js";

/** How a stream into a submission is opened. */
export interface SubmitOptions extends Abortable {
  /**
   * Stream of the submission that this program writes. Programs that send at the same time use a
   * stream each; opening a stream that another program writes excludes that program. Default:
   * `"default"`.
   */
  readonly stream?: string;
  /** Title of a new submission, for people. */
  readonly title?: string;
  /**
   * Whether the caller sends the same frames again from the first one on, in the same order, so
   * that durable ones are left out. Default: false.
   */
  readonly replay?: boolean;
  /** How frames are batched, and what happens if the server is slow. */
  readonly batching?: Batching;
  /** How frames are kept until they are acknowledged, and what happens after a break. */
  readonly delivery?: Delivery;
}

/** Selects a board. */
export interface LeaderboardOptions extends Abortable {
  /** Evaluator; left out: the first one of the benchmark. */
  readonly evaluator?: string;
  /** Domain; left out: all together. */
  readonly domain?: string;
  /** Class; left out: all together. */
  readonly label?: string;
}

/**
 * Make a client of a server; the first call opens the connection.
 *
 * @param target - Address: `host:port`, `[address]:port` or `unix:path`.
 * @throws InputError if an argument is wrong, or the token would be sent unencrypted to another
 *   machine.
 */
export function connect(target: string, options: ConnectOptions = {}): Client {
  return new Client(new Connection(target, options));
}

/**
 * A connection to a server; made by {@link connect}.
 *
 * Any number of calls and streams may run at the same time. A program ends only once its clients
 * are closed; `await using` closes a client at the end of the block.
 */
export class Client implements AsyncDisposable {
  readonly #connection: Connection;
  /** Submissions to hosted benchmarks. */
  readonly submissions: Submissions;

  /** @internal Use `connect`. */
  constructor(connection: Connection) {
    this.#connection = connection;
    this.submissions = new Submissions(connection);
  }

  /** Describe the server; it answers clients of any version. */
  async server(options: Abortable = {}): Promise<ServerInfo> {
    const response = await this.#connection.run(
      (call) => this.#connection.service(ServerService).getServer({}, call),
      options,
    );
    if (response.server === undefined) {
      throw new InternalError("the server sent an answer without a description of itself");
    }
    return decodeServer(response.server);
  }

  /** All evaluators of the server, built-in ones first. */
  async evaluators(options: Abortable = {}): Promise<EvaluatorDescription[]> {
    const pages = await this.#connection.pages(
      (pageToken, call) =>
        this.#connection.service(EvaluatorService).listEvaluators({ pageToken }, call),
      options,
    );
    return pages.flatMap((page) => page.evaluators).map(decodeEvaluator);
  }

  /**
   * One evaluator.
   *
   * @throws NotFoundError if there is none of that name.
   */
  async evaluator(name: string, options: Abortable = {}): Promise<EvaluatorDescription> {
    const request = { name: `evaluators/${name}` };
    const response = await this.#connection.run(
      (call) => this.#connection.service(EvaluatorService).getEvaluator(request, call),
      options,
    );
    if (response.evaluator === undefined) {
      throw new NotFoundError(`there is no evaluator ${name}`, { code: "NOT_FOUND" });
    }
    return decodeEvaluator(response.evaluator);
  }

  /** Whether the server, or one of its services, answers. */
  async health(service = "", options: Abortable = {}): Promise<Health> {
    const response = await this.#connection.run(
      (call) => this.#connection.service(HealthService).check({ service }, call),
      options,
    );
    return healthName(response.status);
  }

  /**
   * Open a stream that is scored while it runs; the server keeps nothing of it.
   *
   * @param evaluators - The evaluators that judge: names, or names with parameters; if empty, those
   *   of the specification.
   * @throws InputError if an argument is wrong.
   * @throws VidscoreError if the server refuses the stream or cannot be reached.
   */
  async scoreStream(
    evaluators: readonly EvaluatorChoice[],
    options: ScoreStreamOptions = {},
  ): Promise<ScoreStream> {
    return new ScoreStream(this.#connection, evaluators, options).open(options);
  }

  /**
   * Send all frames and wait for the final reports: one for each evaluator, in the requested order.
   */
  async score(
    evaluators: readonly EvaluatorChoice[],
    truth: Iterable<TruthFrame> | AsyncIterable<TruthFrame>,
    detections: Iterable<Frame> | AsyncIterable<Frame>,
    options: ScoreStreamOptions = {},
  ): Promise<readonly Report[]> {
    const batching = { blockTimeoutMs: null, ...options.batching };
    const stream = await this.scoreStream(evaluators, { ...options, batching });
    try {
      for await (const frame of truth) {
        await stream.sendTruth(frame);
      }
      for await (const frame of detections) {
        await stream.send(frame);
      }
      return await stream.finish();
    } finally {
      stream.cancel();
    }
  }

  /**
   * Open a stream of detections into a submission, which is created if it does not exist.
   *
   * A program that dies and starts again continues by naming the same submission and stream:
   * `SubmissionStream.nextOffset` is the number of durable frames, and `replay` leaves exactly
   * these out.
   *
   * @param submission - Last part of its name; left out: the server chooses.
   * @throws NotFoundError if there is no such benchmark.
   * @throws ConflictError if it takes no detections yet.
   * @throws QuotaExceededError if the team may have no more submissions.
   * @throws SubmissionEndedError if the submission takes no more frames.
   */
  async submit(
    benchmark: string,
    submission?: string,
    options: SubmitOptions = {},
  ): Promise<SubmissionStream> {
    const batching = completeBatching(options.batching);
    const delivery = completeDelivery(options.delivery);
    const { name, detectionGeometry } = await this.benchmark(benchmark, options);
    if (detectionGeometry === null) {
      throw new ConflictError(
        `${name} takes no detections yet: their geometry follows from the truth, ` +
          "which has not been uploaded",
        { reason: "BENCHMARK_NOT_OPEN" },
      );
    }
    const found = await this.#findOrCreate(benchmark, submission, options);
    const request = { submission: found.name, stream: options.stream ?? "default" };
    const opened = await this.#connection.run(
      (call) => this.#connection.service(SubmissionService).openStream(request, call),
      options,
    );
    const plan = {
      submission: found.name,
      stream: decodeStream(opened.stream),
      arity: arityOf("detectionGeometry", detectionGeometry),
      batching: limitBatching(batching, opened.limits),
      delivery,
      replay: options.replay ?? false,
      signal: options.signal,
    };
    return new SubmissionStream(plan, this.#connection, this.submissions);
  }

  /** One hosted benchmark. */
  async benchmark(benchmark: string, options: Abortable = {}): Promise<Benchmark> {
    const name = benchmarkName(benchmark);
    const response = await this.#connection.run(
      (call) => this.#connection.service(BenchmarkService).getBenchmark({ name }, call),
      options,
    );
    return decodeBenchmark(response.benchmark);
  }

  /** The hosted benchmarks that the caller may see. */
  async benchmarks(options: Abortable = {}): Promise<Benchmark[]> {
    const pages = await this.#connection.pages(
      (pageToken, call) =>
        this.#connection.service(BenchmarkService).listBenchmarks({ pageToken }, call),
      options,
    );
    return pages.flatMap((page) => page.benchmarks).map(decodeBenchmark);
  }

  /** The submissions of a benchmark in rank order. */
  async leaderboard(benchmark: string, options: LeaderboardOptions = {}): Promise<Leaderboard> {
    const { signal, ...wanted } = options;
    const request = { benchmark: benchmarkName(benchmark), ...wanted };
    const pages = await this.#connection.pages(
      (pageToken, call) =>
        this.#connection.service(BenchmarkService).getLeaderboard({ ...request, pageToken }, call),
      { signal },
    );
    return {
      rows: pages.flatMap((page) => page.rows).map(decodeBoardRow),
      ranking: pages.at(-1)?.ranking ?? [],
      truthRevision: Number(pages.at(-1)?.truthRevision ?? 0),
      newestTruthRevision: Number(pages.at(-1)?.newestTruthRevision ?? 0),
    };
  }

  /**
   * Close all open streams and the connection; may be called again. Streams into submissions
   * deliver the frames that they have accepted, as their own `close` does; streams that score are
   * cancelled.
   *
   * @throws VidscoreError the error of a stream that could not deliver everything; the others are
   *   closed all the same.
   */
  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** End all open streams at once, drop what is not delivered, and close the connection. */
  abort(): void {
    this.#connection.abort();
  }

  /** Close. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #findOrCreate(
    benchmark: string,
    submission: string | undefined,
    options: SubmitOptions,
  ): Promise<Submission> {
    const { title = "" } = options;
    if (submission === undefined) {
      return this.submissions.create(benchmark, "", title, options);
    }
    if (submission === "" || submission.includes("/")) {
      throw new InputError("submission", JSON.stringify(submission), "a name like {submission}");
    }
    const name = `${benchmarkName(benchmark)}/submissions/${submission}`;
    const known = await this.#find(name, options);
    // Nobody has seen the title of a draft, so an earlier one must not stay.
    if (known !== null && (known.state !== "open" || title === "" || title === known.title)) {
      return known;
    }
    try {
      return await this.submissions.create(benchmark, submission, title, options);
    } catch (error) {
      // Another process of the same submission may just have created it.
      const taken = error instanceof ConflictError && error.reason === "NAME_TAKEN";
      const other = taken ? await this.#find(name, options) : null;
      if (other === null) {
        throw error;
      }
      return other;
    }
  }

  async #find(name: string, options: Abortable): Promise<Submission | null> {
    try {
      return await this.submissions.get(name, options);
    } catch (error) {
      if (error instanceof NotFoundError) {
        return null;
      }
      throw error;
    }
  }
}

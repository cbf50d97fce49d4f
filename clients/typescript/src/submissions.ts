/** Submissions to hosted benchmarks. */

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { type Abortable, anyOf } from "./aborting.js";
import type { Connection } from "./connection.js";
import { DeadlineError, InputError, type VidscoreError } from "./errors.js";
import { SubmissionService } from "./gen/vidscore/v1/submission_service_pb.js";
import {
  decodeScore,
  decodeSubmission,
  hasEnded,
  type Submission,
  type SubmissionScore,
  type SubmissionUpdate,
} from "./hosting.js";
import { endedEarly, Retrying } from "./retrying.js";
import { completeRetry, type Retry, requireCount } from "./settings.js";
import { LONGEST_TIMER_MS, now } from "./wake_up_event.js";

/** How long to watch, and what happens after a break. */
export interface WatchOptions extends Abortable {
  /** Milliseconds after which to give up; left out: never. */
  readonly timeoutMs?: number;
  readonly retry?: Retry;
}

const CALL_MS = 45_000; // then a new call is made: proxies end calls that are silent for a minute

/** Submissions; a submission is named `{benchmark}/{submission}` or by its full name. */
export class Submissions {
  readonly #connection: Connection;

  /** @internal Use `Client.submissions`. */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Open a submission.
   *
   * @param submission - Last part of its name: 1 to 63 lower-case letters, digits and hyphens, a
   *   letter first; left out: the server chooses.
   * @throws ConflictError if the name is taken, or the benchmark accepts no submissions now.
   * @throws QuotaExceededError if the team may have no more.
   */
  async create(
    benchmark: string,
    submission = "",
    title = "",
    options: Abortable = {},
  ): Promise<Submission> {
    const request = {
      benchmark: benchmarkName(benchmark),
      submissionId: submission,
      title,
      requestId: randomUUID(),
    };
    const response = await this.#connection.run(
      (call) => this.#service.createSubmission(request, call),
      options,
    );
    return decodeSubmission(response.submission);
  }

  /**
   * One submission.
   *
   * @throws NotFoundError if there is none of that name, or the caller may not see it.
   */
  async get(submission: string, options: Abortable = {}): Promise<Submission> {
    const name = submissionName(submission);
    const response = await this.#connection.run(
      (call) => this.#service.getSubmission({ name }, call),
      options,
    );
    return decodeSubmission(response.submission);
  }

  /** The submissions that the caller may see, newest first. */
  async list(benchmark: string, options: Abortable = {}): Promise<Submission[]> {
    const name = benchmarkName(benchmark);
    const pages = await this.#connection.pages(
      (pageToken, call) => this.#service.listSubmissions({ benchmark: name, pageToken }, call),
      options,
    );
    return pages.flatMap((page) => page.submissions).map(decodeSubmission);
  }

  /**
   * End the appends of a submission, which is then scored. Sealing again changes nothing.
   *
   * @param expectedFrameCount - Number of frames that must be durable in all streams together; left
   *   out: any number.
   * @throws ConflictError with reason `FRAME_COUNT_DIFFERS` if another number of frames is durable;
   *   nothing is sealed.
   */
  async seal(
    submission: string,
    expectedFrameCount?: number,
    retry?: Retry,
    options: Abortable = {},
  ): Promise<Submission> {
    if (expectedFrameCount !== undefined) {
      requireCount("expectedFrameCount", expectedFrameCount);
    }
    const request = {
      name: submissionName(submission),
      expectedFrameCount: expectedFrameCount === undefined ? undefined : BigInt(expectedFrameCount),
    };
    const retrying = new Retrying(completeRetry(retry));
    while (true) {
      try {
        const response = await this.#connection.run(
          (call) => this.#service.sealSubmission(request, call),
          options,
        );
        return decodeSubmission(response.submission);
      } catch (thrown) {
        if (options.signal?.aborted) {
          throw thrown;
        }
        await this.#sleep(retrying.delayMs(thrown as VidscoreError, now()), options.signal);
      }
    }
  }

  /** Cancel a submission. */
  async cancel(submission: string, options: Abortable = {}): Promise<Submission> {
    const name = submissionName(submission);
    const response = await this.#connection.run(
      (call) => this.#service.cancelSubmission({ name }, call),
      options,
    );
    return decodeSubmission(response.submission);
  }

  /**
   * The submission now and after each change, until it has ended. It reconnects automatically after
   * a break.
   *
   * @throws DeadlineError if it has not ended in time.
   */
  async *watch(
    submission: string,
    options: WatchOptions = {},
  ): AsyncGenerator<SubmissionUpdate, void, undefined> {
    const name = submissionName(submission);
    const retry = completeRetry(options.retry);
    const retrying = new Retrying(retry);
    const endMs = options.timeoutMs === undefined ? null : now() + options.timeoutMs;
    let revision = 0;
    while (true) {
      try {
        for await (const update of this.#updates(name, revision, endMs, options.signal)) {
          retrying.progress();
          revision = Math.max(revision, update.submission.revision);
          yield update;
          if (hasEnded(update.submission)) {
            return;
          }
        }
        throw endedEarly();
      } catch (thrown) {
        const error = this.#connection.errorFrom(thrown, options.signal);
        if (options.signal?.aborted) {
          throw error;
        }
        const leftMs = endMs === null ? Number.POSITIVE_INFINITY : endMs - now();
        if (leftMs <= 0) {
          throw notEnded(Number(options.timeoutMs));
        }
        // A call that reached its time limit has not failed.
        const quiet = error.code === "DEADLINE_EXCEEDED";
        if (quiet) {
          retrying.progress();
        }
        const delayMs = quiet ? retry.initialMs : retrying.delayMs(error, now());
        await this.#sleep(Math.min(delayMs, leftMs), options.signal);
      }
    }
  }

  /**
   * Wait until a submission has ended: scored, failed or cancelled.
   *
   * @throws DeadlineError if it has not ended in time; it continues.
   */
  async wait(submission: string, options: WatchOptions = {}): Promise<Submission> {
    let last: Submission | undefined;
    for await (const update of this.watch(submission, options)) {
      last = update.submission;
    }
    return last as Submission; // a watch ends with a submission that has ended
  }

  /** The scores of a submission that the caller may see, newest first. */
  async scores(submission: string, options: Abortable = {}): Promise<SubmissionScore[]> {
    const name = submissionName(submission);
    const pages = await this.#connection.pages(
      (pageToken, call) => this.#service.listScores({ submission: name, pageToken }, call),
      options,
    );
    return pages.flatMap((page) => page.scores).map(decodeScore);
  }

  async *#updates(
    name: string,
    revision: number,
    endMs: number | null,
    given: AbortSignal | undefined,
  ): AsyncGenerator<SubmissionUpdate, void, undefined> {
    const leftMs = endMs === null ? CALL_MS : Math.ceil(endMs - now()); // the wire has whole ones
    const timeoutMs = Math.min(CALL_MS, Math.max(1, leftMs));
    const aborter = new AbortController();
    const signal = anyOf([this.#connection.closing, given], aborter);
    const request = { name, fromRevision: BigInt(revision) };
    const call = this.#service.watchSubmission(request, { timeoutMs, signal });
    // Not by `for await`: if left early, it would leave the call's timer to hold the process.
    const responses = call[Symbol.asyncIterator]();
    try {
      for (let next = await responses.next(); !next.done; next = await responses.next()) {
        const { submission, scores } = next.value;
        yield { submission: decodeSubmission(submission), scores: scores.map(decodeScore) };
      }
    } finally {
      aborter.abort();
      await responses.next().catch(() => undefined);
    }
  }

  /** Wait, but only until the caller's signal aborts or the client is closed. */
  async #sleep(delayMs: number, given: AbortSignal | undefined): Promise<void> {
    const ended = new AbortController();
    const signal = anyOf([this.#connection.closing, given], ended);
    await setTimeout(Math.min(delayMs, LONGEST_TIMER_MS), undefined, { signal }).catch(
      () => undefined,
    );
    ended.abort();
  }

  get #service() {
    return this.#connection.service(SubmissionService);
  }
}

/** `benchmarks/{benchmark}`, from the full name or its last part. */
export function benchmarkName(benchmark: string): string {
  return `benchmarks/${parts("benchmark", benchmark, ["benchmarks"])[0]}`;
}

/** `benchmarks/{b}/submissions/{s}`, from the full name or `{b}/{s}`. */
export function submissionName(submission: string): string {
  const [benchmark, own] = parts("submission", submission, ["benchmarks", "submissions"]);
  return `benchmarks/${benchmark}/submissions/${own}`;
}

function parts(argument: string, name: string, collections: readonly string[]): string[] {
  let found = typeof name === "string" ? name.split("/") : [];
  const isFull = collections.every((collection, index) => found[2 * index] === collection);
  if (found.length === 2 * collections.length && isFull) {
    found = found.filter((_, index) => index % 2 === 1);
  }
  if (found.length !== collections.length || found.includes("")) {
    const shown = collections.map((collection) => `{${collection.slice(0, -1)}}`).join("/");
    throw new InputError(argument, JSON.stringify(name), `a name like ${shown}`);
  }
  return found;
}

function notEnded(timeoutMs: number): DeadlineError {
  return new DeadlineError(
    `the submission has not ended within ${timeoutMs / 1000} s; it continues`,
    { code: "DEADLINE_EXCEEDED" },
  );
}

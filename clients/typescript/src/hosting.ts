/** Hosted benchmarks as a client sees them: benchmarks, submissions and boards. */

import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { InternalError } from "./errors.js";
import { type Geometry, geometryOf } from "./frames.js";
import type { Benchmark as BenchmarkMessage } from "./gen/vidscore/v1/benchmark_pb.js";
import type { LeaderboardRow as LeaderboardRowMessage } from "./gen/vidscore/v1/benchmark_service_pb.js";
import { ReportSchema } from "./gen/vidscore/v1/report_pb.js";
import {
  type StreamInfo as StreamInfoMessage,
  type Submission as SubmissionMessage,
  type SubmissionScore as SubmissionScoreMessage,
  SubmissionState as WireState,
} from "./gen/vidscore/v1/submission_service_pb.js";
import { Report } from "./reports.js";
import { decodeSpecification, type Specification } from "./specification.js";

/** A hosted benchmark: a specification, truth and a policy. */
export interface Benchmark {
  /** Its name, such as `streets`. */
  readonly name: string;
  readonly specification: Specification;
  /** Shape of the truth's objects; null until truth is uploaded. */
  readonly truthGeometry: Geometry | null;
  /** Shape of detections, likewise. */
  readonly detectionGeometry: Geometry | null;
  /** When submissions may first be created; null: from its creation. */
  readonly openTime: Date | null;
  /** When submissions end; null: never. */
  readonly closeTime: Date | null;
}

/** State of a submission. */
export type SubmissionState =
  | "unknown"
  | "open"
  | "receiving"
  | "sealed"
  | "waiting_for_truth"
  | "scoring"
  | "scored"
  | "failed"
  | "cancelled";

/** An append stream: its name, the epoch of its writer, the offset of its next frame. */
export interface StreamInfo {
  readonly stream: string;
  readonly epoch: number;
  readonly nextOffset: number;
}

/** One system's detections for a benchmark. */
export interface Submission {
  /** Full name: `benchmarks/{benchmark}/submissions/{submission}`. */
  readonly name: string;
  readonly team: string;
  readonly title: string;
  readonly state: SubmissionState;
  /** Stable code for why it has this state. */
  readonly stateReason: string;
  /** The reason for people. */
  readonly stateMessage: string;
  readonly stateTime: Date | null;
  readonly createTime: Date | null;
  /** When it was sealed; null before. */
  readonly sealTime: Date | null;
  /** Number of durable frames, in all streams together. */
  readonly frameCount: number;
  readonly streams: readonly StreamInfo[];
  /** Increases with each change of the submission. */
  readonly revision: number;
  /**
   * Doubts about its detections, for people: names that the benchmark does not have, if names are
   * public.
   */
  readonly warnings: readonly string[];
}

/** A score of a submission; it never changes. */
export interface SubmissionScore {
  /** Full name; empty for a live score. */
  readonly name: string;
  readonly createTime: Date | null;
  /** The part of the report that the caller may see. */
  readonly report: Report;
  /** Whether the truth was not complete; frames without truth were left out. */
  readonly partial: boolean;
  /** Whether it is the one score of its evaluator to show. */
  readonly current: boolean;
}

/** A submission at a revision, and the scores that may be seen then. */
export interface SubmissionUpdate {
  readonly submission: Submission;
  readonly scores: readonly SubmissionScore[];
}

/** One submission on the board. */
export interface LeaderboardRow {
  /** Rank from 1 on; equal scores share one. 0 if the row is apart. */
  readonly rank: number;
  readonly team: string;
  /** Full name of the submission, if it may be seen; otherwise empty. */
  readonly submission: string;
  readonly title: string;
  readonly sealTime: Date | null;
  /** Released measures by name; null if one is undefined. */
  readonly scores: Readonly<Record<string, number | null>>;
  /** Revision of the truth under which the scores were computed. */
  readonly truthRevision: number;
  /** Version of the evaluator that computed them. */
  readonly evaluatorVersion: string;
  /**
   * Whether the scores cannot be compared with those of the ranked rows: the submission could not
   * be scored again under the same truth, evaluator and parameters.
   */
  readonly apart: boolean;
}

/** Submissions in rank order. */
export interface Leaderboard {
  readonly rows: readonly LeaderboardRow[];
  /** Measures that rank, first one first. */
  readonly ranking: readonly string[];
  /** Revision of the truth of the ranked scores; 0 for none. */
  readonly truthRevision: number;
  /** Newest complete revision of the truth; 0 for none. */
  readonly newestTruthRevision: number;
}

const ENDED: ReadonlySet<SubmissionState> = new Set(["scored", "failed", "cancelled"]);

/** Whether the state of a submission changes no more by itself. */
export function hasEnded(submission: Submission): boolean {
  return ENDED.has(submission.state);
}

/** @internal */
export function decodeBenchmark(message: BenchmarkMessage | undefined): Benchmark {
  const benchmark = required(message, "benchmark");
  return {
    name: benchmark.name.replace(/^benchmarks\//, ""),
    specification: decodeSpecification(benchmark.specification),
    truthGeometry: geometryOf(benchmark.truthGeometry) ?? null,
    detectionGeometry: geometryOf(benchmark.detectionGeometry) ?? null,
    openTime: date(benchmark.openTime),
    closeTime: date(benchmark.closeTime),
  };
}

/** @internal */
export function decodeSubmission(message: SubmissionMessage | undefined): Submission {
  const submission = required(message, "submission");
  return {
    name: submission.name,
    team: submission.team,
    title: submission.title,
    state: decodeState(submission.state),
    stateReason: submission.stateReason,
    stateMessage: submission.stateMessage,
    stateTime: date(submission.stateTime),
    createTime: date(submission.createTime),
    sealTime: date(submission.sealTime),
    frameCount: Number(submission.frameCount),
    streams: submission.streams.map(decodeStream),
    revision: Number(submission.revision),
    warnings: submission.warnings,
  };
}

/** @internal */
export function decodeStream(message: StreamInfoMessage | undefined): StreamInfo {
  const { stream, epoch, nextOffset } = required(message, "stream");
  return { stream, epoch: Number(epoch), nextOffset: Number(nextOffset) };
}

/** @internal */
export function decodeScore(message: SubmissionScoreMessage): SubmissionScore {
  return {
    name: message.name,
    createTime: date(message.createTime),
    report: new Report(message.report ?? create(ReportSchema)),
    partial: message.partial,
    current: message.current,
  };
}

/** @internal */
export function decodeBoardRow(message: LeaderboardRowMessage): LeaderboardRow {
  return {
    rank: message.rank,
    team: message.team,
    submission: message.submission,
    title: message.title,
    sealTime: date(message.sealTime),
    scores: Object.fromEntries(
      message.scores.map(({ measure, value }) => [measure, value ?? null]),
    ),
    truthRevision: Number(message.truthRevision),
    evaluatorVersion: message.evaluatorVersion,
    apart: message.apart,
  };
}

function decodeState(state: WireState): SubmissionState {
  const name = WireState[state]?.toLowerCase();
  return name === undefined || name === "unspecified" ? "unknown" : (name as SubmissionState);
}

function required<Message>(message: Message | undefined, name: string): Message {
  if (message === undefined) {
    throw new InternalError(`the server sent an answer without its ${name}`);
  }
  return message;
}

function date(time: Timestamp | undefined): Date | null {
  return time === undefined ? null : timestampDate(time);
}

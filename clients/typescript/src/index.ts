/**
 * Client of vidscore, the evaluation server for video detection benchmarks.
 *
 * @packageDocumentation
 */

export type { Abortable } from "./aborting.js";
export {
  Client,
  connect,
  type LeaderboardOptions,
  type SubmitOptions,
} from "./client.js";
export * from "./errors.js";
export type { EvaluatorDescription, Measure } from "./evaluators.js";
export { type Frame, type Geometry, ObjectFlag, type TruthFrame } from "./frames.js";
export type { Health } from "./health.js";
export {
  type Benchmark,
  hasEnded,
  type Leaderboard,
  type LeaderboardRow,
  type StreamInfo,
  type Submission,
  type SubmissionScore,
  type SubmissionState,
  type SubmissionUpdate,
} from "./hosting.js";
export type { Mask } from "./masks.js";
export type { Coverage, Curve, LiveReport, Report, ReportWarning, Row, RowKey } from "./reports.js";
export type { ScoreStream, ScoreStreamOptions } from "./score_stream.js";
export type { ServerInfo } from "./servers.js";
export type {
  Batching,
  ConnectOptions,
  Delivery,
  Keepalive,
  Live,
  Retry,
  Tls,
} from "./settings.js";
export type {
  DomainSpecification,
  EvaluatorChoice,
  FrameSpan,
  ParameterValue,
  SequenceSpecification,
  Specification,
} from "./specification.js";
export type { SubmissionStream, WaitOptions } from "./submission_stream.js";
export type { Submissions, WatchOptions } from "./submissions.js";
export { VERSION } from "./version.js";

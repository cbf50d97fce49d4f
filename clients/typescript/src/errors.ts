/**
 * What can go wrong, as errors that carry everything the server said.
 *
 * Every error of this package is a {@link VidscoreError}. Those that a server's answer causes are
 * chosen by two tables: from the canonical gRPC code and, for those that programs handle apart,
 * from {@link VidscoreError.reason}, a stable upper-case word.
 */

/** One thing that is wrong with a request. */
export interface FieldViolation {
  /** Where it is, as a path into the request. */
  readonly field: string;
  /** What was found there and what was expected. */
  readonly description: string;
}

/** What is known of an error beside its message. */
export interface ErrorFacts {
  /** Canonical gRPC code by name, such as `INVALID_ARGUMENT`. */
  readonly code?: string;
  /** Stable upper-case word for machines. */
  readonly reason?: string;
  /** What is wrong with the request. */
  readonly violations?: readonly FieldViolation[];
  /** How many things are wrong in all. */
  readonly violationCount?: number;
  /** Further facts that the server gave, by name. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Milliseconds after which the server says that the same may go well. */
  readonly retryDelayMs?: number | null;
  /** The error that this one follows from. */
  readonly cause?: unknown;
}

/** Base of every error of this package. */
export class VidscoreError extends Error {
  /** Canonical gRPC code by name; empty for an error that was found on this side. */
  readonly code: string;
  /** Stable upper-case word for machines; the code where the server gave none. */
  readonly reason: string;
  /** What is wrong with the request; the server sends the first twenty. */
  readonly violations: readonly FieldViolation[];
  /** How many things are wrong in all. */
  readonly violationCount: number;
  /** Further facts that the server gave, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Milliseconds after which the server says that the same may go well; null where it does not. */
  readonly retryDelayMs: number | null;
  /** What went wrong, without the list of violations that `message` has. */
  readonly summary: string;

  /** Keep what is known; the message is the summary and, if there are several, the violations. */
  constructor(summary: string, facts: ErrorFacts = {}) {
    const violations = facts.violations ?? [];
    const count = facts.violationCount ?? violations.length;
    super(text(summary, violations, count), { cause: facts.cause });
    this.name = new.target.name;
    this.summary = summary;
    this.code = facts.code ?? "";
    this.reason = facts.reason || this.code;
    this.violations = violations;
    this.violationCount = count;
    this.metadata = facts.metadata ?? {};
    this.retryDelayMs = facts.retryDelayMs ?? null;
  }

  /** Whether the same call may well succeed if it is made again later. */
  get retryable(): boolean {
    return false;
  }
}

/** The server refuses what was sent; `violations` says what and where. */
export class InvalidArgumentError extends VidscoreError {}

/** There is nothing of that name. */
export class NotFoundError extends VidscoreError {}

/** A limit of the server is reached; the text names it. */
export class LimitExceededError extends VidscoreError {}

/** The team's quota of submissions to the benchmark is used up. */
export class QuotaExceededError extends LimitExceededError {}

/** The server cannot be reached, or is shutting down. */
export class UnavailableError extends VidscoreError {
  override get retryable(): boolean {
    return true;
  }
}

/** It took longer than the caller wanted to wait. */
export class DeadlineError extends VidscoreError {}

/** The call was cancelled by this side. */
export class CallCancelledError extends VidscoreError {}

/** The token is missing, unknown, or not allowed to do this. */
export class AccessDeniedError extends VidscoreError {}

/** The request does not fit the state that the server is in; `reason` says how. */
export class ConflictError extends VidscoreError {}

/** A younger writer has opened the same stream of the submission; this one may not go on. */
export class SupersededError extends ConflictError {}

/** The submission is sealed or cancelled and takes no more frames. */
export class SubmissionEndedError extends ConflictError {}

/**
 * Client and server are of versions that do not work together; the text says which to update.
 * `metadata` has both under `client_version` and `server_version`.
 */
export class VersionError extends ConflictError {}

/** The server does not have this call: it may be older than this client. */
export class UnsupportedError extends VidscoreError {}

/** The server failed, or answered what this client cannot understand. */
export class InternalError extends VidscoreError {}

/** An argument is wrong; nothing was sent. */
export class InputError extends VidscoreError {
  /** Name of the argument. */
  readonly argument: string;

  /** Say what was found and what was expected. */
  constructor(argument: string, found: string, expected: string) {
    super(`${argument}: found ${found}, expected ${expected}`, { reason: "INVALID_INPUT" });
    this.argument = argument;
  }
}

/**
 * The queue of a stream is full: the server takes frames more slowly than they come.
 *
 * The frame of the call that fails with this is not queued; the stream goes on.
 */
export class BackPressureError extends VidscoreError {
  /** Say how full the queue is. */
  constructor(message: string) {
    super(message, { reason: "BACK_PRESSURE" });
  }
}

/** The stream is finished, or the client closed. */
export class ClosedError extends VidscoreError {
  /** Say what is closed. */
  constructor(message: string) {
    super(message, { reason: "CLOSED" });
  }
}

/** A callback of the caller's has thrown; `cause` is what. The stream has ended. */
export class CallbackError extends VidscoreError {
  /** Say what it threw. */
  constructor(message: string, cause?: unknown) {
    super(message, { reason: "CALLBACK_FAILED", cause });
  }
}

/** A class of errors that follow from a server's answer. */
export type ErrorClass = new (message: string, facts?: ErrorFacts) => VidscoreError;

/** The error for each canonical code, unless {@link ERRORS_BY_REASON} has a narrower one. */
export const ERRORS_BY_CODE: Readonly<Record<string, ErrorClass>> = {
  CANCELLED: CallCancelledError,
  UNKNOWN: InternalError,
  INVALID_ARGUMENT: InvalidArgumentError,
  DEADLINE_EXCEEDED: DeadlineError,
  NOT_FOUND: NotFoundError,
  ALREADY_EXISTS: ConflictError,
  PERMISSION_DENIED: AccessDeniedError,
  RESOURCE_EXHAUSTED: LimitExceededError,
  FAILED_PRECONDITION: ConflictError,
  ABORTED: ConflictError,
  OUT_OF_RANGE: ConflictError,
  UNIMPLEMENTED: UnsupportedError,
  INTERNAL: InternalError,
  UNAVAILABLE: UnavailableError,
  DATA_LOSS: InternalError,
  UNAUTHENTICATED: AccessDeniedError,
};

/** The error for each reason that has one of its own, a kind of the code's error. */
export const ERRORS_BY_REASON: Readonly<Record<string, ErrorClass>> = {
  EPOCH_STALE: SupersededError,
  QUOTA_EXCEEDED: QuotaExceededError,
  SUBMISSION_ENDED: SubmissionEndedError,
  VERSION_UNSUPPORTED: VersionError,
};

function text(summary: string, violations: readonly FieldViolation[], count: number): string {
  const lines = [summary];
  if (count > 1) {
    // The message of the server tells the only one, or the first.
    for (const { field, description } of violations) {
      lines.push(field ? `  ${field}: ${description}` : `  ${description}`);
    }
  }
  if (count > violations.length) {
    lines.push(`  ... and ${count - violations.length} more`);
  }
  return lines.join("\n");
}

/**
 * Errors, which carry all details from the server.
 *
 * Every error of this package is a {@link VidscoreError}. For a server's error, two tables choose
 * the class: by the canonical gRPC code and, for errors that programs handle separately, by {@link
 * VidscoreError.reason}, a stable upper-case word.
 */

/** One fault of a request. */
export interface FieldViolation {
  /** Its place, as a path into the request. */
  readonly field: string;
  /** What was found, and what was expected. */
  readonly description: string;
}

/** Facts about an error besides its message. */
export interface ErrorFacts {
  /** Canonical gRPC code by name, such as `INVALID_ARGUMENT`. */
  readonly code?: string;
  /** Stable upper-case word for machines. */
  readonly reason?: string;
  /** Faults of the request. */
  readonly violations?: readonly FieldViolation[];
  /** Number of all faults. */
  readonly violationCount?: number;
  /** Further facts from the server, by name. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Milliseconds after which a retry may succeed, according to the server. */
  readonly retryDelayMs?: number | null;
  /** The cause of this error. */
  readonly cause?: unknown;
}

/** Base of every error of this package. */
export class VidscoreError extends Error {
  /** Canonical gRPC code by name; empty for an error that was found on this side. */
  readonly code: string;
  /** Stable upper-case word for machines; the code if the server gave none. */
  readonly reason: string;
  /** Faults of the request; the server sends the first twenty. */
  readonly violations: readonly FieldViolation[];
  /** Number of all faults. */
  readonly violationCount: number;
  /** Further facts from the server, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /**
   * Milliseconds after which a retry may succeed, according to the server; null if it gives none.
   */
  readonly retryDelayMs: number | null;
  /** What went wrong, without the list of violations. */
  readonly summary: string;

  /** Store the facts; the message is the summary and, if there are several, the violations. */
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

  /** Whether the same call may succeed later. */
  get retryable(): boolean {
    return false;
  }
}

/** The server refuses the request; `violations` has the faults. */
export class InvalidArgumentError extends VidscoreError {}

/** There is no resource of that name. */
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

/** The caller's timeout was exceeded. */
export class DeadlineError extends VidscoreError {}

/** This client cancelled the call, or somebody cancelled work on the server. */
export class CallCancelledError extends VidscoreError {}

/** The token is missing, unknown, or not allowed to do this. */
export class AccessDeniedError extends VidscoreError {}

/** The request does not fit the server's state; `reason` says why. */
export class ConflictError extends VidscoreError {}

/** A newer writer has opened the same stream of the submission; this one must stop. */
export class SupersededError extends ConflictError {}

/** The submission is sealed or cancelled and takes no more frames. */
export class SubmissionEndedError extends ConflictError {}

/**
 * Client and server have incompatible versions; the text says which one to update. `metadata` has
 * both under `client_version` and `server_version`.
 */
export class VersionError extends ConflictError {}

/** The server does not have this call: it hosts no benchmarks, or is older. */
export class UnsupportedError extends VidscoreError {}

/** The server failed, or this client cannot understand its answer. */
export class InternalError extends VidscoreError {}

/** An argument is wrong; nothing was sent. */
export class InputError extends VidscoreError {
  /** Name of the argument. */
  readonly argument: string;

  /** Say what was found, and what was expected. */
  constructor(argument: string, found: string, expected: string) {
    super(`${argument}: found ${found}, expected ${expected}`, { reason: "INVALID_INPUT" });
    this.argument = argument;
  }
}

/**
 * The queue of a stream is full: the server takes frames more slowly than they come.
 *
 * The frame of the failed call was not queued; the stream continues.
 */
export class BackPressureError extends VidscoreError {
  /** Say how full the queue is. */
  constructor(message: string) {
    super(message, { reason: "BACK_PRESSURE" });
  }
}

/** The stream is finished, or the client is closed. */
export class ClosedError extends VidscoreError {
  /** Say what is closed. */
  constructor(message: string) {
    super(message, { reason: "CLOSED" });
  }
}

/** A callback of the caller has thrown `cause`. The stream has ended. */
export class CallbackError extends VidscoreError {
  /** Say what it threw. */
  constructor(message: string, cause?: unknown) {
    super(message, { reason: "CALLBACK_FAILED", cause });
  }
}

/** A class of errors for a server's answer. */
export type ErrorClass = new (message: string, facts?: ErrorFacts) => VidscoreError;

/** The class for each canonical code, unless {@link ERRORS_BY_REASON} has a more specific one. */
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

/** The class for each reason with its own class, a subclass of the code's. */
export const ERRORS_BY_REASON: Readonly<Record<string, ErrorClass>> = {
  EPOCH_STALE: SupersededError,
  QUOTA_EXCEEDED: QuotaExceededError,
  SUBMISSION_ENDED: SubmissionEndedError,
  VERSION_UNSUPPORTED: VersionError,
};

function text(summary: string, violations: readonly FieldViolation[], count: number): string {
  const lines = [summary];
  if (count > 1) {
    // If there is one violation, the server's message states it; otherwise it states the first.
    for (const { field, description } of violations) {
      lines.push(field ? `  ${field}: ${description}` : `  ${description}`);
    }
  }
  if (count > violations.length) {
    lines.push(`  ... and ${count - violations.length} more`);
  }
  return lines.join("\n");
}

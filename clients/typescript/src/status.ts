/** Turn the status of a call into an error of `errors.ts`. */

import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  ERRORS_BY_CODE,
  ERRORS_BY_REASON,
  type FieldViolation,
  InternalError,
  LimitExceededError,
  VidscoreError,
} from "./errors.js";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "./gen/google/rpc/error_details_pb.js";

const ERROR_DOMAIN = "vidscore";
const VIOLATION_COUNT = "violations";
/** Text with which the server's gRPC refuses a message before the server reads it. */
const MESSAGE_TOO_LARGE = /^SERVER: Received message larger than max \((\d+) vs\. (\d+)\)$/;

interface Details {
  reason: string;
  metadata: Record<string, string>;
  retryDelayMs: number | null;
  readonly violations: FieldViolation[];
}

/**
 * The error for anything that a call has thrown.
 *
 * @param given - The signal that may have ended the call on this side.
 */
export function errorFrom(thrown: unknown, given?: AbortSignal): VidscoreError {
  if (thrown instanceof VidscoreError) {
    return thrown;
  }
  if (!(thrown instanceof ConnectError)) {
    return new InternalError(`this client failed: ${thrown}`, { cause: thrown });
  }
  const tooLarge = MESSAGE_TOO_LARGE.exec(thrown.rawMessage);
  if (tooLarge !== null && thrown.code === Code.ResourceExhausted) {
    return messageTooLarge(tooLarge[1] as string, tooLarge[2] as string, thrown);
  }
  const { reason, metadata, violations, retryDelayMs } = detailsOf(thrown);
  // gRPC's server ends calls like this that arrive while it stops.
  const isCut = thrown.code === Code.Canceled && reason === "" && !given?.aborted;
  const code = isCut || isBroken(thrown) ? "UNAVAILABLE" : codeName(thrown.code);
  const kind = ERRORS_BY_REASON[reason] ?? ERRORS_BY_CODE[code] ?? InternalError;
  const isOverdue = thrown.code === Code.DeadlineExceeded && reason === "";
  const message = isOverdue ? "the call has exceeded its timeout" : thrown.rawMessage;
  return new kind(message || `the call ended with ${code}`, {
    code,
    reason,
    metadata,
    retryDelayMs,
    violations,
    violationCount: violationCount(metadata, violations.length),
    cause: thrown,
  });
}

function messageTooLarge(size: string, maximum: string, cause: ConnectError): VidscoreError {
  return new LimitExceededError(
    `a message of ${size} bytes; the server accepts at most ${maximum}: ` +
      "send less at once, or raise its limit maximum_message_bytes",
    {
      code: "RESOURCE_EXHAUSTED",
      reason: "LIMIT_EXCEEDED",
      metadata: { limit: "maximum_message_bytes", maximum },
      cause,
    },
  );
}

/**
 * Whether a call failed on its way and not by an answer: no connection was made, or it was cut. The
 * transport has its own codes for these, which a server's answer may also have.
 */
function isBroken(failure: ConnectError): boolean {
  const { cause, rawMessage } = failure;
  const isOfSystem = cause instanceof Error && "code" in cause && typeof cause.code === "string";
  return isOfSystem || rawMessage.startsWith("http/2 stream closed with error code");
}

/** The name that gRPC gives a code: `InvalidArgument` is `INVALID_ARGUMENT`. */
function codeName(code: Code): string {
  const name = Code[code] ?? "Unknown";
  return name === "Canceled" ? "CANCELLED" : name.replace(/(?!^)([A-Z])/g, "_$1").toUpperCase();
}

function detailsOf(failure: ConnectError): Details {
  const details: Details = { reason: "", metadata: {}, retryDelayMs: null, violations: [] };
  for (const detail of failure.details) {
    if (!("type" in detail) || typeof detail.type !== "string") {
      continue;
    }
    try {
      addDetail(details, detail.type, detail.value as Uint8Array);
    } catch {
      // A proxy may send invalid details: the code and the text still hold.
    }
  }
  return details;
}

function addDetail(details: Details, type: string, value: Uint8Array): void {
  if (type === ErrorInfoSchema.typeName) {
    const information = fromBinary(ErrorInfoSchema, value);
    if (information.domain === ERROR_DOMAIN) {
      details.reason = information.reason;
      details.metadata = { ...information.metadata };
    }
  } else if (type === BadRequestSchema.typeName) {
    for (const violation of fromBinary(BadRequestSchema, value).fieldViolations) {
      details.violations.push({ field: violation.field, description: violation.description });
    }
  } else if (type === RetryInfoSchema.typeName) {
    const { seconds = 0n, nanos = 0 } = fromBinary(RetryInfoSchema, value).retryDelay ?? {};
    details.retryDelayMs = Math.max(0, 1000 * Number(seconds) + nanos / 1e6);
  }
}

function violationCount(metadata: Record<string, string>, known: number): number {
  const text = metadata[VIOLATION_COUNT] ?? "";
  return /^\d+$/.test(text) ? Math.max(known, Number(text)) : known;
}

/** Settings of streams and connections. Times are in milliseconds. */

import { InputError } from "./errors.js";
import type { LiveReport } from "./reports.js";
import { LONGEST_TIMER_MS } from "./wake_up_event.js";

/**
 * How frames are put together into messages, and how many may wait.
 *
 * A frame is on its way `batchIntervalMs` after it was given at the latest, unless the server
 * takes no more; then frames wait in the queue. A frame enters the queue where it fits or the
 * queue is empty, so memory is bounded by the queue and one frame of the caller's.
 */
export interface Batching {
  /** Most frames of a message. Default: 256. */
  readonly batchFrames?: number;
  /** Most bytes of a message, unless one frame alone is larger. Default: 1 MiB. */
  readonly batchBytes?: number;
  /** Longest time that a frame waits for others. Default: 100. */
  readonly batchIntervalMs?: number;
  /** Most frames that wait to be sent, both sides together. Default: 4096. */
  readonly queueFrames?: number;
  /** Most bytes that wait to be sent. Default: 64 MiB. */
  readonly queueBytes?: number;
  /**
   * What `send` does where the queue is full: `"block"` waits for room, `"raise"` fails with
   * `BackPressureError` at once. Default: `"block"`.
   */
  readonly policy?: "block" | "raise";
  /**
   * Longest time that `"block"` waits before it fails with `BackPressureError`; null for no limit.
   * Default: 30,000.
   */
  readonly blockTimeoutMs?: number | null;
}

/** When live reports are wanted, and where they go: a report comes when either interval passed. */
export interface Live {
  /** Frames that both sides have sent since the last report; 0 for not by frames. Default: 0. */
  readonly everyFrames?: number;
  /** Time since the last report; null for not by time. Default: null. */
  readonly everyMs?: number | null;
  /** Called with each report; the stream waits for what it returns. */
  readonly onReport?: (report: LiveReport) => unknown;
  /** Whether to leave out the rows of single sequences and the curves. Default: false. */
  readonly summaryOnly?: boolean;
  /** Reports that wait for `liveReports()`; older ones are dropped. Default: 16. */
  readonly keepReports?: number;
}

/** An encrypted connection; all files are PEM, and are read and checked by `connect`. */
export interface Tls {
  /** File of the authorities to trust; where left out, those of Node.js. */
  readonly rootCertificates?: string | URL;
  /** File of this client's certificate chain, where the server wants one. */
  readonly certificate?: string | URL;
  /** File of the private key of `certificate`. */
  readonly privateKey?: string | URL;
  /** Name that the server's certificate is for, where it is not the one of the address. */
  readonly serverName?: string;
}

/**
 * How a connection is found out that has gone silent, as some networks drop them.
 *
 * While a call is open over a connection of which nothing is heard, the server is asked whether it
 * is still there. A connection over which no answer comes is given up for a new one.
 */
export interface Keepalive {
  /**
   * Time without a word from the server after which it is asked; at least 10,000, since a server
   * shuts out clients that ask more often. Default: 20,000.
   */
  readonly intervalMs?: number;
  /** Time that it has to answer. Default: 10,000. */
  readonly timeoutMs?: number;
}

/** How to reach a server. */
export interface ConnectOptions {
  /** Whether to encrypt: {@link Tls} names certificates, true trusts the system's authorities. */
  readonly tls?: boolean | Tls;
  /**
   * Sent with each call as `authorization: Bearer`. An `undefined` that is given, such as of a
   * variable that is not set, is refused: without a token, leave it out.
   */
  readonly token?: string | undefined;
  /** Milliseconds that a call, or the opening of a stream, may take. Default: 10,000. */
  readonly timeoutMs?: number;
  /** How a connection is found out that has gone silent. */
  readonly keepalive?: Keepalive;
  /** Whether the token may go unencrypted to another machine. Default: false. */
  readonly allowPlaintextToken?: boolean;
}

/**
 * How often and how long to try again after a break; each wait is twice the one before, and none is
 * shorter than the server says.
 */
export interface Retry {
  /** Wait before the second try; the first one is made at once. Default: 200. */
  readonly initialMs?: number;
  /** Longest wait between two tries. Default: 10,000. */
  readonly maximumMs?: number;
  /**
   * Time without any progress after which the last error is thrown; null for never.
   * Default: 600,000.
   */
  readonly giveUpAfterMs?: number | null;
}

/**
 * How frames of a submission are held until the server has acknowledged them.
 *
 * Frames that are sent and not acknowledged are kept to be sent again after a break, so memory is
 * bounded by this window and the queue of {@link Batching}.
 */
export interface Delivery {
  /** Frames that are sent and not acknowledged at which no further batch is sent. Default: 4096. */
  readonly windowFrames?: number;
  /** Bytes of these, likewise. Default: 64 MiB. */
  readonly windowBytes?: number;
  /** Time without an acknowledgement after which a connection counts as broken. Default: 30,000. */
  readonly acknowledgeTimeoutMs?: number;
  /**
   * Longest time that closing the stream waits for frames to become durable before it gives them
   * up. Default: 120,000.
   */
  readonly closeTimeoutMs?: number;
  /** What happens after a break. */
  readonly retry?: Retry;
  /**
   * Called with the number of durable frames of the stream whenever it has grown; the stream waits
   * for what it returns.
   */
  readonly onAcknowledged?: (frames: number) => unknown;
  /**
   * Whether each batch is a call of its own, for proxies that take no streams; slower, and
   * otherwise the same. Default: false.
   */
  readonly unary?: boolean;
}

type Complete<Settings> = { readonly [Key in keyof Settings]-?: Exclude<Settings[Key], undefined> };

/** Batching with every default filled in. */
export type CompleteBatching = Complete<Batching>;
/** Retry with every default filled in. */
export type CompleteRetry = Complete<Retry>;
/** Live with every default filled in. */
export type CompleteLive = Complete<Omit<Live, "onReport">> & Pick<Live, "onReport">;
/** Delivery with every default filled in. */
export type CompleteDelivery = Complete<Omit<Delivery, "onAcknowledged" | "retry">> &
  Pick<Delivery, "onAcknowledged"> & { readonly retry: CompleteRetry };

/**
 * Make no larger messages than a server takes.
 *
 * @param limits - The server's limits by name, as far as it states them.
 */
export function limitBatching(
  batching: CompleteBatching,
  limits: Readonly<Record<string, bigint>>,
): CompleteBatching {
  const most = (name: string) => Number(limits[name] ?? Number.POSITIVE_INFINITY);
  return {
    ...batching,
    batchFrames: Math.min(batching.batchFrames, most("maximum_batch_frames")),
    // The other half is for the tables of names, which the outbox does not count.
    batchBytes: Math.min(batching.batchBytes, most("maximum_message_bytes") / 2),
  };
}

/** Fill in defaults, and refuse numbers with which nothing would ever be sent. */
export function completeBatching(given: Batching = {}): CompleteBatching {
  const batching: CompleteBatching = {
    batchFrames: given.batchFrames ?? 256,
    batchBytes: given.batchBytes ?? 1 << 20,
    batchIntervalMs: given.batchIntervalMs ?? 100,
    queueFrames: given.queueFrames ?? 4096,
    queueBytes: given.queueBytes ?? 64 << 20,
    policy: given.policy ?? "block",
    blockTimeoutMs: given.blockTimeoutMs === undefined ? 30_000 : given.blockTimeoutMs,
  };
  for (const name of ["batchFrames", "batchBytes", "queueFrames", "queueBytes"] as const) {
    requireNumber(name, batching[name], 1);
  }
  requireNumber("batchIntervalMs", batching.batchIntervalMs, 0);
  if (batching.policy !== "block" && batching.policy !== "raise") {
    throw new InputError("policy", JSON.stringify(batching.policy), '"block" or "raise"');
  }
  requireNumberOrNull("blockTimeoutMs", batching.blockTimeoutMs);
  return batching;
}

/** Fill in defaults, and refuse what a server takes for an attack. */
export function completeKeepalive(given: Keepalive = {}): Complete<Keepalive> {
  const { intervalMs = 20_000, timeoutMs = 10_000 } = given;
  requireNumber("intervalMs", intervalMs, 10_000);
  requirePositive("timeoutMs", timeoutMs);
  return { intervalMs, timeoutMs };
}

/** Fill in defaults, and refuse times that are none. */
export function completeRetry(given: Retry = {}): CompleteRetry {
  const retry: CompleteRetry = {
    initialMs: given.initialMs ?? 200,
    maximumMs: given.maximumMs ?? 10_000,
    giveUpAfterMs: given.giveUpAfterMs === undefined ? 600_000 : given.giveUpAfterMs,
  };
  requirePositive("initialMs", retry.initialMs);
  requireNumber("maximumMs", retry.maximumMs, retry.initialMs);
  requireNumberOrNull("giveUpAfterMs", retry.giveUpAfterMs);
  return retry;
}

/** Fill in defaults, and refuse numbers with which nothing would ever be sent. */
export function completeDelivery(given: Delivery = {}): CompleteDelivery {
  const delivery: CompleteDelivery = {
    windowFrames: given.windowFrames ?? 4096,
    windowBytes: given.windowBytes ?? 64 << 20,
    acknowledgeTimeoutMs: given.acknowledgeTimeoutMs ?? 30_000,
    closeTimeoutMs: given.closeTimeoutMs ?? 120_000,
    retry: completeRetry(given.retry),
    onAcknowledged: given.onAcknowledged,
    unary: given.unary ?? false,
  };
  requireNumber("windowFrames", delivery.windowFrames, 1);
  requireNumber("windowBytes", delivery.windowBytes, 1);
  requirePositive("acknowledgeTimeoutMs", delivery.acknowledgeTimeoutMs);
  requireNumber("closeTimeoutMs", delivery.closeTimeoutMs, 0);
  return delivery;
}

/** Fill in defaults, and refuse settings with which no report would ever come. */
export function completeLive(given: Live): CompleteLive {
  const live: CompleteLive = {
    everyFrames: given.everyFrames ?? 0,
    everyMs: given.everyMs ?? null,
    onReport: given.onReport,
    summaryOnly: given.summaryOnly ?? false,
    keepReports: given.keepReports ?? 16,
  };
  requireCount("everyFrames", live.everyFrames);
  if (live.everyMs !== null && !(live.everyMs >= 0 && live.everyMs < 1e12)) {
    throw new InputError("everyMs", String(live.everyMs), "0 to 1e12, or null");
  }
  if (live.everyFrames === 0 && live.everyMs === null) {
    throw new InputError("live", "no interval", "everyFrames or everyMs");
  }
  requireNumber("keepReports", live.keepReports, 1);
  return live;
}

/** Refuse what is no number of frames. */
export function requireCount(name: string, value: number): void {
  if (!(Number.isSafeInteger(value) && value >= 0)) {
    throw new InputError(name, String(value), "an integer of 0 or more");
  }
}

/** A time limit in whole milliseconds, as the wire has it. */
export function wholeMs(name: string, value: number): number {
  requirePositive(name, value);
  return Math.ceil(value);
}

/** The time that a call may take; undefined where it is longer than timers run, for no limit. */
export function callMs(timeoutMs: number | undefined): number | undefined {
  return timeoutMs !== undefined && timeoutMs <= LONGEST_TIMER_MS ? timeoutMs : undefined;
}

function requirePositive(name: string, value: number): void {
  if (!(value > 0)) {
    throw new InputError(name, String(value), "more than 0");
  }
}

function requireNumber(name: string, value: number, least: number): void {
  if (!(value >= least)) {
    throw new InputError(name, String(value), `${least} or more`);
  }
}

function requireNumberOrNull(name: string, value: number | null): void {
  if (value !== null && !(value >= 0)) {
    throw new InputError(name, String(value), "0 or more, or null");
  }
}

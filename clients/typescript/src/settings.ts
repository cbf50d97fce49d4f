/** Settings of streams and connections. Times are in milliseconds. */

import { InputError } from "./errors.js";
import type { LiveReport } from "./reports.js";
import { LONGEST_TIMER_MS } from "./wake_up_event.js";

/**
 * How frames are batched into messages, and how many may wait.
 *
 * A frame is sent at most `batchIntervalMs` after it was given, unless the server accepts no more;
 * then frames wait in the queue. A frame enters the queue if it fits or the queue is empty, so that
 * memory is bounded by the queue and one frame of the caller.
 */
export interface Batching {
  /** Maximum frames of a message. Default: 256. */
  readonly batchFrames?: number;
  /** Maximum bytes of a message, unless a single frame is larger. Default: 1 MiB. */
  readonly batchBytes?: number;
  /** Longest time that a frame waits for others. Default: 100. */
  readonly batchIntervalMs?: number;
  /** Maximum frames that wait to be sent, both sides together. Default: 4096. */
  readonly queueFrames?: number;
  /** Maximum bytes that wait to be sent. Default: 64 MiB. */
  readonly queueBytes?: number;
  /**
   * What happens to the caller if the queue is full: `"block"` waits for room, `"raise"` fails with
   * `BackPressureError` at once. Default: `"block"`.
   */
  readonly policy?: "block" | "raise";
  /**
   * Longest time that `"block"` waits before it fails with `BackPressureError`; null for no limit.
   * Default: 30,000.
   */
  readonly blockTimeoutMs?: number | null;
}

/**
 * When live reports are sent, and who gets them: a report is sent when either interval has passed.
 */
export interface Live {
  /**
   * Number of frames that both sides have sent since the last report; 0 for not by frames. Default:
   * 0.
   */
  readonly everyFrames?: number;
  /** Time since the last report; null for not by time. Default: null. */
  readonly everyMs?: number | null;
  /** Called with each report; the stream waits for the promise that it returns. */
  readonly onReport?: (report: LiveReport) => unknown;
  /** Whether to leave out the rows of single sequences and the curves. Default: false. */
  readonly summaryOnly?: boolean;
  /**
   * Maximum number of reports that wait for `liveReports()`; older ones are dropped. Default: 16.
   */
  readonly keepReports?: number;
}

/** An encrypted connection; all files are PEM; `connect` reads and checks them. */
export interface Tls {
  /** File of the authorities to trust; left out: those of Node.js. */
  readonly rootCertificates?: string | URL;
  /** File of this client's certificate chain, if the server requires one. */
  readonly certificate?: string | URL;
  /** File of the private key of `certificate`. */
  readonly privateKey?: string | URL;
  /** Name in the server's certificate, if it differs from the address. */
  readonly serverName?: string;
}

/**
 * How silent connections are detected, because some networks drop connections silently.
 *
 * While a call is open over a silent connection, the server is pinged. A connection without an
 * answer is replaced by a new one.
 */
export interface Keepalive {
  /**
   * Silence after which the server is pinged; at least 10,000, because servers disconnect clients
   * that ping more often. Default: 20,000.
   */
  readonly intervalMs?: number;
  /** Time to wait for its answer. Default: 10,000. */
  readonly timeoutMs?: number;
}

/** How to reach a server. */
export interface ConnectOptions {
  /** Whether to encrypt: {@link Tls} names certificates, true trusts the system's authorities. */
  readonly tls?: boolean | Tls;
  /**
   * Sent with each call as `authorization: Bearer`. An explicit `undefined`, as from an unset
   * variable, is refused: without a token, leave it out.
   */
  readonly token?: string | undefined;
  /** Timeout in milliseconds of a call, and of opening a stream. Default: 10,000. */
  readonly timeoutMs?: number;
  /** How silent connections are detected. */
  readonly keepalive?: Keepalive;
  /** Whether the token may be sent unencrypted to another machine. Default: false. */
  readonly allowPlaintextToken?: boolean;
}

/**
 * How often and how long to try again after a break; each wait is twice the one before. If the
 * server gives a delay, no wait is shorter.
 */
export interface Retry {
  /** Wait before the second try; the first one is made at once. Default: 200. */
  readonly initialMs?: number;
  /** Maximum wait between two tries. Default: 10,000. */
  readonly maximumMs?: number;
  /**
   * Time without progress after which the last error is thrown; null for never. Default: 600,000.
   */
  readonly giveUpAfterMs?: number | null;
}

/**
 * How frames of a submission are kept until the server has acknowledged them.
 *
 * Sent but unacknowledged frames are kept to be sent again after a break, so that memory is bounded
 * by this window and the queue of {@link Batching}.
 */
export interface Delivery {
  /** Number of unacknowledged frames at which no further batch is sent. Default: 4096. */
  readonly windowFrames?: number;
  /** Bytes of unacknowledged frames, likewise. Default: 64 MiB. */
  readonly windowBytes?: number;
  /** Time without an acknowledgement after which a connection counts as broken. Default: 30,000. */
  readonly acknowledgeTimeoutMs?: number;
  /**
   * Longest time that closing the stream waits for frames to become durable before it drops them.
   * Default: 120,000.
   */
  readonly closeTimeoutMs?: number;
  /** What happens after a break. */
  readonly retry?: Retry;
  /**
   * Called with the stream's number of durable frames whenever it has grown; the stream waits for
   * the promise that it returns.
   */
  readonly onAcknowledged?: (frames: number) => unknown;
  /**
   * Whether each batch is a separate call, for proxies without streams; slower, otherwise the same.
   * Default: false.
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
 * Make no larger messages than a server accepts.
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

/** Fill in defaults, and refuse numbers with which nothing could ever be sent. */
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

/** Fill in defaults, and refuse intervals that a server takes for an attack. */
export function completeKeepalive(given: Keepalive = {}): Complete<Keepalive> {
  const { intervalMs = 20_000, timeoutMs = 10_000 } = given;
  requireNumber("intervalMs", intervalMs, 10_000);
  requirePositive("timeoutMs", timeoutMs);
  return { intervalMs, timeoutMs };
}

/** Fill in defaults, and refuse invalid times. */
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

/** Fill in defaults, and refuse numbers with which nothing could ever be sent. */
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

/** Fill in defaults, and refuse settings without any reports. */
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

/** Refuse anything but a number of frames. */
export function requireCount(name: string, value: number): void {
  if (!(Number.isSafeInteger(value) && value >= 0)) {
    throw new InputError(name, String(value), "an integer of 0 or more");
  }
}

/** A timeout in whole milliseconds, as on the wire. */
export function wholeMs(name: string, value: number): number {
  requirePositive(name, value);
  return Math.ceil(value);
}

/** The timeout of a call; undefined, for no limit, if it is longer than timers run. */
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

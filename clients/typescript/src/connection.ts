/** The address of a server, and how to call it. */

import { isIP, connect as openSocket } from "node:net";
import type { DescService } from "@bufbuild/protobuf";
import {
  type CallOptions,
  createClient,
  type Interceptor,
  type Client as ServiceClient,
  type Transport,
} from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { type Abortable, anyOf, listenedToByMany } from "./aborting.js";
import { readCertificates } from "./certificates.js";
import { ClosedError, InputError, type VidscoreError } from "./errors.js";
import { Sessions } from "./sessions.js";
import { type ConnectOptions, callMs, completeKeepalive, type Tls, wholeMs } from "./settings.js";
import { errorFrom } from "./status.js";
import { CLIENT_KEY, checkServer, SERVER_KEY, VERSION } from "./version.js";

const USER_AGENT = `vidscore-typescript/${VERSION}`;
const MAXIMUM_RESPONSE_BYTES = 256 << 20; // a report of a million rows

/**
 * Node.js loses answers while a session holds more than this, 10 MB by default, of unsent messages
 * and unread answers. Their number and sizes have limits of their own.
 */
const SESSION_MEGABYTES = 1 << 20;

/** An answer that may be one page of a list. */
interface Page {
  /** Token of the next page; empty on the last one. */
  readonly nextPageToken: string;
}

/** Something that delivers before it closes. */
interface Closing {
  close(): Promise<void>;
  abort(): void;
}

/** A connection, and everything that its calls need. */
export class Connection {
  /** Timeout in milliseconds of a unary call, and of opening a stream. */
  readonly timeoutMs: number;
  readonly #sessions: Sessions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  /** Streams that are closed first when the client is closed. */
  readonly streams = new Set<Closing>();

  /** @throws InputError if a setting of the server is wrong; nothing is sent yet. */
  constructor(target: string, options: ConnectOptions) {
    const tls = options.tls === true ? {} : options.tls || null;
    const address = parse(target);
    this.timeoutMs = wholeMs("timeoutMs", options.timeoutMs ?? 10_000);
    if ("token" in options) {
      checkToken(options.token, address, tls !== null || options.allowPlaintextToken === true);
    }
    const baseUrl = `${tls === null ? "http" : "https"}://${address.authority}`;
    const { intervalMs, timeoutMs } = completeKeepalive(options.keepalive);
    this.#sessions = new Sessions(
      baseUrl,
      { pingIntervalMs: intervalMs, pingTimeoutMs: timeoutMs },
      { maxSessionMemory: SESSION_MEGABYTES, ...sessionOptions(address, tls) },
    );
    listenedToByMany(this.closing);
    this.#transport = createGrpcTransport({
      baseUrl,
      readMaxBytes: MAXIMUM_RESPONSE_BYTES,
      sessionManager: this.#sessions,
      interceptors: [introduce(options.token)],
    });
  }

  /** Aborts when the client is closed. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Calls of a service. */
  service<Service extends DescService>(service: Service): ServiceClient<Service> {
    if (this.closing.aborted) {
      throw new ClosedError("the client is closed");
    }
    return createClient(service, this.#transport);
  }

  /**
   * Make a unary call with the timeout of the connection.
   *
   * @throws VidscoreError the error of the call.
   */
  async run<Result>(
    call: (options: CallOptions) => Promise<Result>,
    given: Abortable = {},
  ): Promise<Result> {
    const ended = new AbortController();
    const signal = anyOf([this.closing, given.signal], ended);
    try {
      return await call({ timeoutMs: callMs(this.timeoutMs), signal });
    } catch (thrown) {
      throw this.errorFrom(thrown, signal);
    } finally {
      ended.abort();
    }
  }

  /**
   * Make a unary call for each page of a list.
   *
   * @throws VidscoreError the error of a call.
   */
  async pages<Answer extends Page>(
    call: (pageToken: string, options: CallOptions) => Promise<Answer>,
    given: Abortable = {},
  ): Promise<Answer[]> {
    const found: Answer[] = [];
    let pageToken = "";
    do {
      const page = await this.run((options) => call(pageToken, options), given);
      found.push(page);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  /**
   * The error for what a call has thrown; after `close`, that the client is closed.
   *
   * @param given - The signal that may have ended the call on this side.
   */
  errorFrom(thrown: unknown, given?: AbortSignal): VidscoreError {
    return this.closing.aborted
      ? new ClosedError("the client is closed")
      : errorFrom(thrown, given);
  }

  /**
   * Close all streams, end all calls and close the connection.
   *
   * @throws VidscoreError the error of the first stream that could not deliver everything.
   */
  async close(): Promise<void> {
    const closed = [...this.streams].map((stream) => stream.close());
    try {
      await Promise.allSettled(closed);
      await Promise.all(closed);
    } finally {
      this.abort();
    }
  }

  /** End all streams and calls at once, and close the connection. */
  abort(): void {
    for (const stream of this.streams) {
      stream.abort();
    }
    this.#closing.abort();
    this.#sessions.abort();
  }
}

interface Address {
  readonly authority: string;
  readonly host: string;
  readonly socketPath: string | null;
}

function parse(target: string): Address {
  const expected = "host:port, [address]:port or unix:path";
  if (typeof target !== "string" || /\s/.test(target)) {
    throw new InputError("target", JSON.stringify(target), expected);
  }
  if (target.startsWith("unix:") && target.length > "unix:".length) {
    const socketPath = target.slice("unix:".length).replace(/^\/\/(?=\/)/, "");
    return { authority: "localhost", host: "", socketPath };
  }
  const found = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/[\]@?#]+)):(\d{1,5})$/.exec(target);
  const host = found?.[1] ?? found?.[2];
  if (host === undefined || Number(found?.[3]) > 65535 || !URL.canParse(`http://${target}`)) {
    throw new InputError("target", JSON.stringify(target), expected);
  }
  return { authority: target, host, socketPath: null };
}

function checkToken(token: string | undefined, address: Address, mayGo: boolean): void {
  // The text never shows the token, because errors end up in logs.
  if (token === undefined || !/^[!-~]+$/.test(token)) {
    const found = token === undefined ? "undefined" : "something else";
    throw new InputError("token", found, "printable ASCII without spaces or line breaks");
  }
  if (!mayGo && !isLoopback(address.host)) {
    throw new InputError(
      "token",
      `an unencrypted connection to ${address.host}`,
      "tls, or allowPlaintextToken on a network that nobody else can read",
    );
  }
}

function isLoopback(host: string): boolean {
  if (host === "" || host === "localhost" || host === "::1") {
    return true;
  }
  return isIP(host) === 4 && host.startsWith("127.");
}

function sessionOptions(address: Address, tls: Tls | null): Record<string, unknown> {
  const { socketPath } = address;
  if (tls !== null) {
    return {
      ...readCertificates(tls),
      ...(tls.serverName !== undefined && { servername: tls.serverName }),
      ...(socketPath !== null && { path: socketPath }),
    };
  }
  return socketPath === null ? {} : { createConnection: () => openSocket(socketPath) };
}

/** Send the version and token of the client with each call, and check the server's version. */
function introduce(token: string | undefined): Interceptor {
  return (next) => async (request) => {
    request.header.set("User-Agent", USER_AGENT);
    request.header.set(CLIENT_KEY, VERSION);
    if (token !== undefined) {
      request.header.set("Authorization", `Bearer ${token}`);
    }
    const response = await next(request);
    checkServer(response.trailer.get(SERVER_KEY) ?? ""); // streams have no trailer yet
    return response;
  };
}

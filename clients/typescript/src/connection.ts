/** Where a server is and how to talk to it. */

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

/** An answer that may not be the whole of a list. */
interface Page {
  /** Leads to the next page; empty on the last one. */
  readonly nextPageToken: string;
}

/** What delivers something before it ends. */
interface Closing {
  close(): Promise<void>;
  abort(): void;
}

/** A connection, and what each call over it needs. */
export class Connection {
  /** Milliseconds that a unary call, or the opening of a stream, may take. */
  readonly timeoutMs: number;
  readonly #sessions: Sessions;
  readonly #transport: Transport;
  readonly #closing = new AbortController();
  /** Streams that closing the client closes first. */
  readonly streams = new Set<Closing>();

  /** @throws InputError if something about the server is wrong; nothing is sent yet. */
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
      sessionOptions(address, tls),
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
   * Make a unary call within the connection's time limit.
   *
   * @throws VidscoreError what it failed with.
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
   * Make a unary call for each page of a list, until there is no further one.
   *
   * @throws VidscoreError what one of them failed with.
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
   * The error for what a call has thrown: after `close`, that it was closed.
   *
   * @param given - What may have ended the call on this side.
   */
  errorFrom(thrown: unknown, given?: AbortSignal): VidscoreError {
    return this.closing.aborted
      ? new ClosedError("the client is closed")
      : errorFrom(thrown, given);
  }

  /**
   * Close every stream, end every call and let go of the connection.
   *
   * @throws VidscoreError what the first stream that could not deliver everything failed with.
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

  /** End every stream and call at once and let go of the connection. */
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
  // The text never shows the token: errors end up in logs.
  if (token === undefined || !/^[!-~]+$/.test(token)) {
    const found = token === undefined ? "undefined" : "something else";
    throw new InputError("token", found, "printable ASCII without spaces");
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

/** Say with each call who calls, and look at what the server says it is. */
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

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
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ClosedError, InputError, type VidscoreError } from "./errors.js";
import { type ConnectOptions, type Tls, wholeMs } from "./settings.js";
import { errorFrom } from "./status.js";
import { CLIENT_KEY, checkServer, SERVER_KEY, VERSION } from "./version.js";

const USER_AGENT = `vidscore-typescript/${VERSION}`;
const MAXIMUM_RESPONSE_BYTES = 256 << 20; // a report of a million rows
const KEEPALIVE_MS = 60_000;

/** An answer that may not be the whole of a list. */
interface Page {
  /** Leads to the next page; empty on the last one. */
  readonly nextPageToken: string;
}

/** A connection, and what each call over it needs. */
export class Connection {
  /** Milliseconds that a unary call, or the opening of a stream, may take. */
  readonly timeoutMs: number;
  readonly #sessions: Http2SessionManager;
  readonly #transport: Transport;
  readonly #closing = new AbortController();

  /** @throws InputError if something about the server is wrong; nothing is sent yet. */
  constructor(target: string, options: ConnectOptions) {
    const tls = options.tls === true ? {} : options.tls || null;
    const address = parse(target);
    this.timeoutMs = wholeMs("timeoutMs", options.timeoutMs ?? 10_000);
    if (options.token !== undefined) {
      checkToken(options.token, address, tls !== null || options.allowPlaintextToken === true);
    }
    const baseUrl = `${tls === null ? "http" : "https"}://${address.authority}`;
    this.#sessions = new Http2SessionManager(
      baseUrl,
      { pingIntervalMs: KEEPALIVE_MS },
      sessionOptions(address, tls),
    );
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
  async run<Result>(call: (options: CallOptions) => Promise<Result>): Promise<Result> {
    try {
      return await call({ timeoutMs: this.timeoutMs, signal: this.closing });
    } catch (thrown) {
      throw this.errorFrom(thrown);
    }
  }

  /**
   * Make a unary call for each page of a list, until there is no further one.
   *
   * @throws VidscoreError what one of them failed with.
   */
  async pages<Answer extends Page>(
    call: (pageToken: string, options: CallOptions) => Promise<Answer>,
  ): Promise<Answer[]> {
    const found: Answer[] = [];
    let pageToken = "";
    do {
      const page = await this.run((options) => call(pageToken, options));
      found.push(page);
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
    return found;
  }

  /** The error for what a call has thrown: after `close`, that it was closed. */
  errorFrom(thrown: unknown): VidscoreError {
    return this.closing.aborted ? new ClosedError("the client is closed") : errorFrom(thrown);
  }

  /** End every call and let go of the connection. */
  close(): void {
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
  if (host === undefined || Number(found?.[3]) > 65535) {
    throw new InputError("target", JSON.stringify(target), expected);
  }
  return { authority: target, host, socketPath: null };
}

function checkToken(token: string, address: Address, mayGo: boolean): void {
  // The text never shows the token: errors end up in logs.
  if (!/^[!-~]+$/.test(token)) {
    throw new InputError("token", "something else", "printable ASCII without spaces");
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
    if ((tls.certificate === undefined) !== (tls.privateKey === undefined)) {
      const missing = tls.certificate === undefined ? "certificate" : "privateKey";
      throw new InputError(missing, "none", "certificate and privateKey together, or neither");
    }
    return {
      ca: tls.rootCertificates,
      cert: tls.certificate,
      key: tls.privateKey,
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

/** The HTTP/2 sessions of a client. */

import type { ClientHttp2Stream } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * Makes sessions whose errors cannot end the process.
 *
 * A session whose ping is not answered fails some time after the manager has dropped it. By then
 * the manager may be closed and no longer listen to it, and an error without a listener ends
 * Node.js. The caller gets the error from the stream.
 */
export class Sessions extends Http2SessionManager {
  readonly #heard = new WeakSet<object>();

  /** Make a stream, over the present session or a new one. */
  override async request(
    ...given: Parameters<Http2SessionManager["request"]>
  ): Promise<ClientHttp2Stream> {
    const stream = await super.request(...given);
    const { session } = stream;
    if (session !== undefined && !this.#heard.has(session)) {
      this.#heard.add(session);
      session.on("error", () => undefined);
    }
    return stream;
  }
}

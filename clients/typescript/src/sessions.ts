/** The HTTP/2 sessions of a client. */

import type { ClientHttp2Stream } from "node:http2";
import { Http2SessionManager } from "@connectrpc/connect-node";

/**
 * Makes sessions, and sees to it that none ends the process.
 *
 * A session whose ping is not answered fails some time after it is given up. By then the manager
 * may have been closed and listens to it no more, and an error that nobody listens to ends Node.js.
 * Who calls is told by the stream.
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

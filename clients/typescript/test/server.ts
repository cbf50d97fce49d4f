/** A scripted server in the process of the tests. */

import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { type Client, type ConnectOptions, connect } from "../src/index.js";

/** A server and a client of it; both end with the test. */
export interface Played {
  readonly client: Client;
  /** Break every connection. */
  readonly cut: () => void;
}

/** Serve what `routes` puts on the router. */
export async function playing(
  test: TestContext,
  routes: (router: ConnectRouter) => void,
  options: ConnectOptions = {},
): Promise<Played> {
  const sessions = new Set<ServerHttp2Session>();
  const server: Http2Server = createServer(connectNodeAdapter({ routes }));
  server.on("session", (session) => sessions.add(session));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const client = connect(`127.0.0.1:${port}`, options);
  const cut = () => {
    for (const session of sessions) {
      session.destroy();
    }
    sessions.clear();
  };
  test.after(() => {
    client.abort();
    cut();
    server.close();
  });
  return { client, cut };
}

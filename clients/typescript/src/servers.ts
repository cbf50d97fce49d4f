/** The server itself, as a client sees it. */

import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Server as ServerMessage } from "./gen/vidscore/v1/server_service_pb.js";

/** Description of a server. */
export interface ServerInfo {
  /** Its version. */
  readonly version: string;
  /** Oldest client version that it works with. */
  readonly oldestClientVersion: string;
  /** Newest client version that it works with. */
  readonly newestClientVersion: string;
  /** Time of its clock. */
  readonly time: Date | null;
  /** Whether it hosts benchmarks. */
  readonly hosting: boolean;
  /** Whether it is about to stop. */
  readonly draining: boolean;
}

/** @internal */
export function decodeServer(message: ServerMessage): ServerInfo {
  const { version, oldestClientVersion, newestClientVersion, time, hosting, draining } = message;
  return {
    version,
    oldestClientVersion,
    newestClientVersion,
    time: time === undefined ? null : timestampDate(time),
    hosting,
    draining,
  };
}

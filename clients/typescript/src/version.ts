/** The version of this package, and the server versions that it works with. */

import { VersionError } from "./errors.js";

/** Version of this package; the same as in `package.json`. */
export const VERSION = "0.2.0";

/** Metadata of each call: version of this package. */
export const CLIENT_KEY = "vidscore-client-version";

/** Trailing metadata of each call: version of the server. */
export const SERVER_KEY = "vidscore-server-version";

const MINORS_APART = 1;

/**
 * Refuse a server that is more than one minor version away. A text that is not a version is
 * accepted, as from proxies.
 *
 * @throws VersionError if it is too far away.
 */
export function checkServer(server: string, client = VERSION): void {
  const [theirs, ours] = [parse(server), parse(client)];
  if (theirs === null || ours === null) {
    return;
  }
  const distance = theirs.minor - ours.minor;
  if (theirs.major === ours.major && Math.abs(distance) <= MINORS_APART) {
    return;
  }
  const isNewer = theirs.major > ours.major || (theirs.major === ours.major && distance > 0);
  const advice = isNewer
    ? "update @vidscore/client"
    : "update the server, or use an older @vidscore/client";
  throw new VersionError(
    `the server has version ${server} and the client ${client}, which works with servers of the ` +
      `same major version and at most ${MINORS_APART} minor version away: ${advice}`,
    {
      reason: "VERSION_UNSUPPORTED",
      metadata: { client_version: client, server_version: server },
    },
  );
}

function parse(version: string): { major: number; minor: number } | null {
  const found = /^(\d{1,6})\.(\d{1,6})[.+\-a-z0-9]*$/.exec(version);
  return found && { major: Number(found[1]), minor: Number(found[2]) };
}

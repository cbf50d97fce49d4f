import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VersionError } from "../src/errors.js";
import { checkServer, VERSION } from "../src/version.js";

test("the package and its code are of one version", () => {
  const path = new URL("../../../package.json", import.meta.url);
  assert.equal(VERSION, JSON.parse(readFileSync(path, "utf8")).version);
});

test("a server one minor version away, or of no known version, is worked with", () => {
  for (const server of ["1.4.0", "1.3.9", "1.5.0rc1", "", "proxy"]) {
    checkServer(server, "1.4.2");
  }
});

test("a server further away is refused, with what to update", () => {
  for (const [server, advice] of [
    ["1.6.0", /update @vidscore/],
    ["2.4.0", /update @vidscore/],
    ["1.2.0", /update the server/],
  ] as const) {
    assert.throws(
      () => checkServer(server, "1.4.2"),
      (error) => error instanceof VersionError && advice.test(error.message),
    );
  }
});

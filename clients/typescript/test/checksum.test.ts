import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "../src/checksum.js";

// The check value of CRC-32 in every catalogue of CRCs; of no byte it is 0.
test("the checksum is that of zlib, gzip and PNG", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
});

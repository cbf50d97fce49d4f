/** Checksums of batches, by which the server detects changes in transit. */

import { toBinary } from "@bufbuild/protobuf";
import { type AnnotationBatch, AnnotationBatchSchema } from "./gen/vidscore/v1/annotations_pb.js";

const POLYNOMIAL = 0xedb88320; // of zlib, gzip and PNG, its lowest bit first

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) {
    sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0);
  }
  return sum;
});

/** CRC-32 of some bytes. */
export function crc32(data: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of data) {
    sum = (sum >>> 8) ^ (TABLE[(sum ^ byte) & 0xff] ?? 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}

/**
 * CRC-32 of a batch's bytes. A message without maps is encoded the same each time, alone and inside
 * another one.
 */
export function checksum(batch: AnnotationBatch): number {
  return crc32(toBinary(AnnotationBatchSchema, batch));
}

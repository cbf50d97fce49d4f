//! The checksum of batches.

use crate::checksum::crc32;

/// The check value of CRC-32 in every catalogue of CRCs; of no byte it is 0.
#[test]
fn it_is_that_of_zlib_gzip_and_png() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc32(b""), 0);
}

//! CRC-32, by which the server checks that a batch arrived as it was sent.

/// Of zlib, gzip and PNG, its lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;

const TABLE: [u32; 256] = table();

/// CRC-32 of some bytes.
pub(crate) fn crc32(data: &[u8]) -> u32 {
    !data.iter().fold(u32::MAX, |sum, byte| {
        (sum >> 8) ^ TABLE[((sum ^ u32::from(*byte)) & 0xff) as usize]
    })
}

const fn table() -> [u32; 256] {
    let mut sums = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut sum = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = (sum >> 1) ^ (POLYNOMIAL * (sum & 1));
            bit += 1;
        }
        sums[byte] = sum;
        byte += 1;
    }
    sums
}

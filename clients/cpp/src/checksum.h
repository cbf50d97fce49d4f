// CRC-32, by which the server checks that a batch arrived as it was sent.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vidscore::detail {

/// The polynomial of zlib, gzip and PNG, its lowest bit first.
inline constexpr std::uint32_t kCrcPolynomial = 0xedb88320u;

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ (kCrcPolynomial * (sum & 1u));
    table[byte] = sum;
  }
  return table;
}

/// CRC-32 of some bytes.
inline std::uint32_t crc32(std::string_view data) {
  static constexpr std::array<std::uint32_t, 256> kTable = crc_table();
  std::uint32_t sum = 0xffffffffu;
  for (const char byte : data) {
    sum = (sum >> 8) ^ kTable[(sum ^ static_cast<std::uint8_t>(byte)) & 0xffu];
  }
  return ~sum;
}

}  // namespace vidscore::detail

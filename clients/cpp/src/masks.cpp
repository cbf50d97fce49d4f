#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "failing.h"
#include "vidscore/frames.h"

namespace vidscore {
namespace {

constexpr int kDigit = 31;
constexpr int kSign = 16;
constexpr int kMore = 32;
constexpr int kDigitBits = 5;
constexpr int kLongestNumber = 8;  // maximum characters of the difference of two runs

/// Reads a number: digits of five bits, the lowest first.
std::optional<std::int64_t> number_at(const std::string& text, std::size_t* place) {
  std::int64_t number = 0;
  for (int length = 0; length < kLongestNumber && *place < text.size(); ++length) {
    const int character = static_cast<unsigned char>(text[(*place)++]) - '0';
    if (character < 0 || character > kDigit + kMore) return std::nullopt;
    number |= static_cast<std::int64_t>(character & kDigit) << (kDigitBits * length);
    if ((character & kMore) != 0) continue;
    if ((character & kSign) != 0) number -= std::int64_t{1} << (kDigitBits * (length + 1));
    return number;
  }
  return std::nullopt;
}

}  // namespace

Mask Mask::of_text(std::uint32_t height, std::uint32_t width, const std::string& text) {
  Mask mask{height, width, {}};
  for (std::size_t place = 0; place < text.size();) {
    std::optional<std::int64_t> number = number_at(text, &place);
    const std::size_t index = mask.runs.size();
    // From the fourth on, numbers are differences to the run before the last one.
    if (number && index > 2) *number += mask.runs[index - 2];
    if (!number || *number < 0 || *number > std::numeric_limits<std::uint32_t>::max()) {
      detail::refuse("mask", detail::quoted(text), "a compressed text of runs");
    }
    mask.runs.push_back(static_cast<std::uint32_t>(*number));
  }
  return mask;
}

}  // namespace vidscore

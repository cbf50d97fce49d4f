#include "vidscore/reports.h"

#include <algorithm>

namespace vidscore {

std::optional<double> as_number(const Value& value) noexcept {
  if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

const Row* Report::find(const std::string& measure, const std::optional<std::string>& domain,
                        const std::optional<std::string>& label,
                        const std::optional<std::string>& sequence) const noexcept {
  const auto found = std::find_if(scores.begin(), scores.end(), [&](const Row& row) {
    return row.measure == measure && row.domain == domain && row.label == label &&
           row.sequence == sequence;
  });
  return found == scores.end() ? nullptr : &*found;
}

}  // namespace vidscore

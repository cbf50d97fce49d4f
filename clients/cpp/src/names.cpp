#include "names.h"

#include <algorithm>
#include <vector>

#include "checks.h"
#include "failing.h"

namespace vidscore::detail {
namespace {

using Parts = std::vector<std::string>;

Parts split(const std::string& name) {
  Parts parts(1);
  for (const char sign : name) {
    if (sign == '/') {
      parts.emplace_back();
    } else {
      parts.back() += sign;
    }
  }
  return parts;
}

/// The parts of a name that are not names of collections.
Parts own_parts(const std::string& argument, const std::string& name, const Parts& collections,
                const std::string& shape) {
  check_text(argument.c_str(), name);
  Parts parts = split(name);
  if (parts.size() == 2 * collections.size()) {
    Parts own;
    bool full = true;
    for (std::size_t index = 0; index < collections.size(); ++index) {
      full = full && parts[2 * index] == collections[index];
      own.push_back(parts[2 * index + 1]);
    }
    if (full) parts = own;
  }
  const bool whole = std::none_of(parts.begin(), parts.end(),
                                  [](const std::string& part) { return part.empty(); });
  if (parts.size() != collections.size() || !whole) {
    refuse(argument, quoted(name), "a name like " + shape);
  }
  return parts;
}

}  // namespace

std::string benchmark_name(const std::string& benchmark) {
  return "benchmarks/" + own_parts("benchmark", benchmark, {"benchmarks"}, "{benchmark}")[0];
}

std::string submission_name(const std::string& submission) {
  const Parts parts = own_parts("submission", submission, {"benchmarks", "submissions"},
                                "{benchmark}/{submission}");
  return "benchmarks/" + parts[0] + "/submissions/" + parts[1];
}

}  // namespace vidscore::detail

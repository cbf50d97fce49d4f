// Full resource names from what people type: `streets`, `streets/run-7`.

#pragma once

#include <string>

namespace vidscore::detail {

/// `benchmarks/{benchmark}`, from itself or its last part.
std::string benchmark_name(const std::string& benchmark);

/// `benchmarks/{b}/submissions/{s}`, from itself or `{b}/{s}`.
std::string submission_name(const std::string& submission);

}  // namespace vidscore::detail

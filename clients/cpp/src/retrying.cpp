#include "retrying.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "failing.h"

namespace vidscore::detail {
namespace {

/// Codes of a connection that broke at any hop, and of a server that restarts.
constexpr std::array<const char*, 5> kBreaks = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED",
                                                "UNKNOWN", "INTERNAL"};

/// Reasons of a server that another offset, or time, resolves.
constexpr std::array<const char*, 3> kPassingReasons = {"OFFSET_GAP", "OFFSET_STRADDLES",
                                                        "STORE_FULL"};

template <typename Words>
bool is_among(const std::string& word, const Words& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool is_break(const Error& error) {
  if (error.retry_delay()) return true;  // the server itself says so
  if (error.kind() == ErrorKind::internal && error.metadata().count("incident") > 0) {
    return false;  // the server itself failed at this request, and would again
  }
  return is_among(error.code(), kBreaks) || is_among(error.reason(), kPassingReasons);
}

Error ended_early() {
  return coded_error(ErrorKind::unavailable, "UNAVAILABLE", "the server ended the call");
}

double random_chance() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0.0, 1.0)(generator);
}

void Retrying::progress() {
  breaks_ = 0;
  since_.reset();
}

Duration Retrying::delay(const Error& error, Instant now) {
  if (!is_break(error)) raise(error);
  return again(error, now);
}

Duration Retrying::again(const Error& error, Instant now) {
  if (!since_) since_ = now;
  const Duration wanted = error.retry_delay().value_or(Duration::zero());
  if (retry_.give_up_after) {
    const Duration left = *retry_.give_up_after - (now - *since_);
    if ((breaks_ > 0 && left <= Duration::zero()) || wanted > left) raise(error);
  }
  constexpr int kMostDoublings = 60;  // bounded, so that the power stays finite
  breaks_ = std::min(breaks_ + 1, kMostDoublings + 2);
  return std::max(wanted, own_delay());
}

Duration Retrying::own_delay() const {
  if (breaks_ == 1) return Duration::zero();
  using Nanoseconds = std::chrono::duration<double, std::nano>;
  const Nanoseconds doubled = Nanoseconds(retry_.initial) * std::exp2(breaks_ - 2);
  const Nanoseconds whole = std::min(doubled, Nanoseconds(std::min(retry_.maximum, kAges)));
  return std::chrono::duration_cast<Duration>(whole * ((1 + chance_()) / 2));
}

}  // namespace vidscore::detail

// Points in time.

#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "vidscore/errors.h"

namespace vidscore::detail {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

/// A duration that never passes.
inline constexpr Duration kAges = std::chrono::hours(10 * 365 * 24);

/// A time after another one, for any duration between them.
inline Instant later(Instant from, Duration by) { return from + std::min(by, kAges); }

/// A limit of a wait that begins now; nullopt for none.
inline std::optional<Instant> limit_of(const std::optional<Duration>& timeout) {
  if (!timeout) return std::nullopt;
  return later(Clock::now(), *timeout);
}

/// When there is something to do; nullopt for when something else happens.
using Due = std::optional<Instant>;

/// The time of work that is due at once.
inline constexpr Instant kNow = Instant::min();

/// A duration as text.
std::string show(Duration time);

}  // namespace vidscore::detail

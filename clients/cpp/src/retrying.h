// When to retry a call. It does no I/O and reads no clock: its caller passes the time and does the
// waiting.

#pragma once

#include <functional>
#include <optional>

#include "clock.h"
#include "vidscore/errors.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// Whether the same call may succeed over another connection, or later.
bool is_break(const Error& error);

/// The error of a call that the server ended without an error before it was done.
Error ended_early();

/// Gives numbers from 0 to 1, so that many clients do not return at the same time.
double random_chance();

/// Counts tries.
class Retrying {
 public:
  /// Start without any breaks.
  explicit Retrying(const Retry& retry, std::function<double()> chance = random_chance)
      : retry_(retry), chance_(std::move(chance)) {}

  /// Record that something has succeeded.
  void progress();

  /// Time to wait before the next try, at least as long as the server wants. Throws the error if a
  /// retry is useless or would be too late.
  Duration delay(const Error& error, Instant now);

  /// The same for an error after which the next try may succeed whatever its kind.
  Duration again(const Error& error, Instant now);

 private:
  Duration own_delay() const;

  Retry retry_;
  std::function<double()> chance_;
  int breaks_ = 0;
  std::optional<Instant> since_;
};

}  // namespace vidscore::detail

// When a call is made again; pure: whoever drives it passes the time and does the waiting.

#pragma once

#include <functional>
#include <optional>

#include "clock.h"
#include "vidscore/errors.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// Whether the same may succeed over another connection, or later.
bool is_break(const Error& error);

/// The break of a call that the server ended well, but before it was done.
Error ended_early();

/// Gives numbers from 0 to 1, so that many clients do not come back all at once.
double random_chance();

/// Counts tries.
class Retrying {
 public:
  /// Start as if everything had gone well so far.
  explicit Retrying(const Retry& retry, std::function<double()> chance = random_chance)
      : retry_(retry), chance_(std::move(chance)) {}

  /// Note that something has succeeded.
  void progress();

  /// Time to wait before the next try, no less than the server wants; throws the error where
  /// another try makes no sense or takes too long.
  Duration delay(const Error& error, Instant now);

  /// The same where the next try may succeed, whatever the error is.
  Duration again(const Error& error, Instant now);

 private:
  Duration own_delay() const;

  Retry retry_;
  std::function<double()> chance_;
  int breaks_ = 0;
  std::optional<Instant> since_;
};

}  // namespace vidscore::detail

// The state of a watch of a submission, without any I/O.

#pragma once

#include <string>

#include "clock.h"
#include "retrying.h"
#include "vidscore/hosting.h"
#include "wire.h"

namespace vidscore::detail {

/// Time after which a call is replaced: proxies end calls that are silent for a minute.
inline constexpr Duration kWatchCall = std::chrono::seconds(45);

/// A submission that is watched over as many calls as needed.
class Watched {
 public:
  /// Start without any state.
  Watched(std::string name, const Retry& retry);

  bool ended() const { return ended_; }

  /// The request of the next call.
  wire::WatchSubmissionRequest request() const;

  /// Record an update.
  void take(const SubmissionUpdate& update);

  /// Time to wait before the next call; throws the error if a retry is useless.
  Duration delay(const Error& error, Instant now);

 private:
  std::string name_;
  std::int64_t revision_ = 0;
  Duration pause_;
  Retrying retrying_;
  bool ended_ = false;
};

}  // namespace vidscore::detail

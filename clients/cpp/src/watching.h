// What a watcher of a submission knows, without any I/O.

#pragma once

#include <string>

#include "clock.h"
#include "retrying.h"
#include "vidscore/hosting.h"
#include "wire.h"

namespace vidscore::detail {

/// Time after which a call is made anew: proxies end calls that are quiet for a minute.
inline constexpr Duration kWatchCall = std::chrono::seconds(45);

/// A submission that is watched over as many calls as it takes.
class Watched {
 public:
  /// Start as if nothing were known of it.
  Watched(std::string name, const Retry& retry);

  bool ended() const { return ended_; }

  /// What opens the next call.
  wire::WatchSubmissionRequest request() const;

  /// Note what the server has said.
  void take(const SubmissionUpdate& update);

  /// Time to wait before the next call; throws the error where there is no going on.
  Duration delay(const Error& error, Instant now);

 private:
  std::string name_;
  std::int64_t revision_ = 0;
  Duration pause_;
  Retrying retrying_;
  bool ended_ = false;
};

}  // namespace vidscore::detail

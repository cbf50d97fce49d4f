// A lock whose holders can wait for changes of what it guards.

#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "clock.h"

namespace vidscore::detail {

using Lock = std::unique_lock<std::mutex>;

/// A mutex with its condition.
class Monitor {
 public:
  Lock lock() const { return Lock(mutex_); }

  void notify() const { changed_.notify_all(); }

  /// Wait for a change, at most until a limit.
  void sleep(Lock& lock, const std::optional<Instant>& limit) const {
    if (limit) {
      changed_.wait_until(lock, *limit);
    } else {
      changed_.wait(lock);
    }
  }

  /// Wait until a condition holds; returns whether it does by the limit.
  template <typename Predicate>
  bool wait(Lock& lock, const std::optional<Instant>& limit, Predicate holds) const {
    while (!holds()) {
      if (limit && Clock::now() >= *limit) return false;
      sleep(lock, limit);
    }
    return true;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
};

}  // namespace vidscore::detail

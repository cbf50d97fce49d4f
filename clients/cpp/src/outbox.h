// Frames that wait to be sent: batches them by size and time, and bounds memory.
//
// It does no I/O and reads no clock: its caller passes the time and does the waiting, the locking
// and the sending.

#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "clock.h"
#include "vidscore/frames.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// What a caller passes in one call.
struct Item {
  std::vector<Frame> frames;  ///< The frames, at least one.
  bool single = false;        ///< Whether it is one frame that may wait for others.
};

/// Maximum bytes of the message that frames would make, without its tables.
std::size_t total_size(const std::vector<Frame>& frames);

/// Frames of one side for one message.
struct Batch {
  Side side;
  std::vector<Frame> frames;
};

/// A bounded queue that batches frames.
class Outbox {
 public:
  explicit Outbox(const Batching& batching) : batching_(batching) {}

  /// Frames that wait.
  std::size_t frames() const { return frames_; }

  /// Time at which `take` has a batch.
  Due due() const;

  /// Make no larger batches than a server accepts; returns whether earlier ones were larger.
  bool limit(std::size_t batch_frames, std::size_t batch_bytes);

  /// Accept an item if there is room for it; returns whether it did.
  bool offer(Side side, Item* item, Instant now);

  /// Return the frames that were taken last, to be cut again.
  void put_back(Side side, const std::vector<Frame>& frames);

  /// Make all frames due now.
  void flush();

  /// The next due batch, at most as large as a message.
  std::optional<Batch> take(Instant now);

 private:
  /// Frames of one side that need not wait for others.
  struct Ready {
    Side side;
    std::deque<Frame> frames;
  };

  /// Single frames of one side that wait for others.
  struct Gathering {
    std::deque<Frame> frames;
    std::size_t size = 0;
    Instant since;
  };

  void gather(Side side, Frame frame, std::size_t size, Instant now);
  void seal(Side side);
  std::size_t frames_that_fit(const std::deque<Frame>& frames) const;
  Gathering& gathering(Side side) { return gathering_[static_cast<std::size_t>(side)]; }

  Batching batching_;
  std::array<Gathering, 2> gathering_;
  std::deque<Ready> ready_;
  std::size_t frames_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace vidscore::detail

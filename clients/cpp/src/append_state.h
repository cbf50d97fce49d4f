// The state of an append stream, without any I/O.
//
// Frames go from the outbox into the window when they are sent, and stay there until the server has
// acknowledged them. After a break the window is sent again from the server's next offset on, under
// the epoch of the first opening: an older writer that returns never excludes a newer one.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "clock.h"
#include "outbox.h"
#include "retrying.h"
#include "vidscore/hosting.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// A batch of frames, and the offset of its first frame in the stream.
struct Sent {
  std::uint64_t offset = 0;
  std::shared_ptr<const std::vector<Frame>> frames;

  /// Offset of the frame after the last one.
  std::uint64_t end() const { return offset + frames->size(); }
};

/// The state of one append stream. Its caller holds a lock.
class AppendState {
 public:
  /// Start as a stream that has just been opened. `replay`: the caller sends from its first frame
  /// again, so that frames that were durable at opening are left out.
  AppendState(StreamInfo opened, const Batching& batching, const Delivery& delivery, bool replay);

  /// Number of frames of the stream that are known to be durable.
  std::uint64_t acknowledged() const { return acknowledged_; }
  /// Number of times that delivery continued after a break.
  std::uint64_t reconnections() const { return reconnections_; }
  /// Number of the present connection; a sender of another one stops.
  std::uint64_t connection() const { return connection_; }
  bool broken() const { return broken_; }
  bool closing() const { return closing_; }
  /// Whether nothing more is delivered.
  bool ended() const { return ended_; }
  /// Whether there is nothing to deliver, so that no connection is needed.
  bool idle() const { return window_.empty() && outbox_.frames() == 0; }
  /// Whether every frame is durable, or the stream has failed.
  bool drained() const { return ended_ || idle(); }
  /// Number of accepted frames that are not known to be durable.
  std::size_t undelivered() const { return window_frames_ + outbox_.frames(); }
  /// Whether this side of a call may be closed.
  bool nothing_to_send() const { return ended_ || (closing_ && idle()); }

  /// Time at which the connection counts as broken; nullopt if no answer is due.
  std::optional<Instant> stalled_at() const;

  /// Time at which `take` has a batch.
  Due due() const;

  /// Accept frames if there is room or they are durable already; returns whether it did.
  bool admit(Item* item, Instant now);

  /// The error for frames that were not accepted, after a wait or without one.
  Error refusal(const std::optional<Duration>& waited) const;

  /// The next batch to send; nullopt if none is due or the window is full.
  std::optional<Sent> take(Instant now);

  /// Drop the frames before an offset, which are durable; returns whether any of them were not
  /// known to be.
  bool acknowledge(std::uint64_t next_offset, Instant now);

  /// Resume over a new connection from the server's state of the stream, nullptr if it has none;
  /// returns whether more frames are durable than before.
  bool resume(const StreamInfo* known, Instant now);

  /// Record that the connection is gone.
  void disconnect();

  /// Record a break; returns the time to wait before the next try. Throws if a retry is useless.
  Duration delay(const Error& error, Instant now);

  /// Make all frames due now.
  void flush() { outbox_.flush(); }

  /// Accept no more frames.
  void close();

  /// Record the end of delivery; the first cause counts.
  void end(const std::optional<Error>& error);

  /// Throw the error of the stream, if it failed.
  void check() const;

  /// Throw the error of the stream, if it has undelivered frames.
  void check_delivered() const;

 private:
  bool has_room() const;
  bool fill(Instant now);
  void release();
  bool cut_smaller(const Error& error);
  void put_back();
  void cut(std::uint64_t offset);

  StreamInfo opened_;
  Batching batching_;
  Delivery delivery_;
  Outbox outbox_;
  Retrying retrying_;
  std::uint64_t acknowledged_;
  std::uint64_t to_skip_;
  std::uint64_t taken_;  // offset after the last frame that entered the window
  std::deque<Sent> window_;
  std::size_t window_frames_ = 0;
  std::size_t window_bytes_ = 0;
  std::size_t sent_ = 0;  // batches of the window that were sent over the present connection
  Instant quiet_since_;
  std::uint64_t connection_ = 0;
  std::uint64_t reconnections_ = 0;
  bool broken_ = false;
  bool too_large_ = false;  // whether the server accepts smaller batches than those of the window
  bool closing_ = false;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace vidscore::detail

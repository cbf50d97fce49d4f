// What an append stream knows, without any I/O.
//
// Frames go from the outbox into the window when they are sent, and stay there until the server has
// acknowledged them. After a break the window is sent again from the server's next offset on, under
// the epoch of the first opening: a younger writer is never shut out by an older one that comes
// back.

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

/// A batch of frames, and the offset of the first of them in the stream.
struct Sent {
  std::uint64_t offset = 0;
  std::shared_ptr<const std::vector<Frame>> frames;

  /// Offset of the frame after the last one.
  std::uint64_t end() const { return offset + frames->size(); }
};

/// The state of one append stream. Whoever drives it holds a lock while calling it.
class AppendState {
 public:
  /// Start as a stream that has just been opened. `replay`: the caller sends from its first frame
  /// again, so that the frames that were durable at opening are to be left out.
  AppendState(StreamInfo opened, const Batching& batching, const Delivery& delivery, bool replay);

  /// Frames of the stream that are known to be durable.
  std::uint64_t acknowledged() const { return acknowledged_; }
  /// How often delivery went on after a break.
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
  /// Frames that were taken in and are not known to be durable.
  std::size_t undelivered() const { return window_frames_ + outbox_.frames(); }
  /// Whether this side of a call may be closed.
  bool nothing_to_send() const { return ended_ || (closing_ && idle()); }

  /// Time at which the connection counts as broken; nullopt where no answer is due.
  std::optional<Instant> stalled_at() const;

  /// When `take` has something.
  Due due() const;

  /// Take in frames where there is room, or where they are durable already; whether they were.
  bool admit(Item* item, Instant now);

  /// The error for frames that were not taken in, after some waiting or none.
  Error refusal(const std::optional<Duration>& waited) const;

  /// The next batch to send; nullopt where none is due or the window is full.
  std::optional<Sent> take(Instant now);

  /// Let go of the frames before an offset, which are durable; whether there are any that were not
  /// known to be.
  bool acknowledge(std::uint64_t next_offset, Instant now);

  /// Go on over a new connection from what the server knows of the stream, nullptr where it knows
  /// nothing; whether more frames are durable than was known.
  bool resume(const StreamInfo* known, Instant now);

  /// Note that nothing more comes over the connection there was.
  void disconnect();

  /// Note a break; the time to wait before going on. Throws where there is no going on.
  Duration delay(const Error& error, Instant now);

  /// Let nothing wait for others any longer.
  void flush() { outbox_.flush(); }

  /// Take in no more frames.
  void close();

  /// Note that nothing more is delivered; the first one to say so is right.
  void end(const std::optional<Error>& error);

  /// Throw what the stream failed with, if it did.
  void check() const;

  /// Throw what the stream failed with, if there are frames that it has not delivered.
  void check_delivered() const;

 private:
  bool has_room() const;
  bool fill(Instant now);
  void release();
  bool limit(const Error& error);
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
  bool too_large_ = false;  // whether the server takes smaller batches than the window has
  bool closing_ = false;
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace vidscore::detail

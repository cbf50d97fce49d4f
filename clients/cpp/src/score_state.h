// What a scoring stream knows, without any I/O.
//
// Whoever drives it holds a lock while calling it, sends what `take` gives, passes in what comes
// back, and wakes its waiters when something has changed.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "clock.h"
#include "outbox.h"
#include "vidscore/errors.h"
#include "vidscore/reports.h"
#include "vidscore/settings.h"

namespace vidscore::detail {

/// The server has accepted the configuration.
struct Started {
  std::string server_version;
  std::map<std::string, std::int64_t> limits;
};

/// The state of one scoring stream.
class ScoreState {
 public:
  /// Start as a stream that has sent and received nothing.
  ScoreState(const Batching& batching, const std::optional<Live>& live);

  const Outbox& outbox() const { return outbox_; }
  /// What the server said when it accepted the stream.
  const std::optional<Started>& started() const { return started_; }
  /// The newest live report.
  const std::optional<LiveReport>& latest() const { return latest_; }
  /// Whether the call is over, well or badly.
  bool ended() const { return ended_; }
  /// Whether this side of the stream may be closed.
  bool nothing_to_send() const { return ended_ || (closing_ && outbox_.frames() == 0); }
  /// Whether `next_report` need not wait.
  bool readable() const { return ended_ || !unread_.empty(); }

  /// Take in frames where there is room; whether they were taken in.
  bool admit(Side side, Item* item, Instant now);

  /// The error for frames that were not taken in, after some waiting or none.
  Error refusal(const std::optional<Duration>& waited) const;

  /// The next batch to send; nullopt where none is due.
  std::optional<Batch> take(Instant now);

  /// Take in no more frames, and send the rest without delay.
  void close();

  /// Keep what the server has said.
  void receive(Started started);
  void receive(LiveReport report);
  void receive(std::vector<Report> final_reports);

  /// Note that the call is over; the first one to say so is right.
  void end(const std::optional<Error>& error);

  /// Throw what the stream failed with, if it did.
  void check() const;

  /// The oldest unread live report; nullopt where the stream has ended and there is none.
  std::optional<LiveReport> next_report();

  /// The final reports of a stream that has ended.
  std::vector<Report> final_reports() const;

 private:
  Batching batching_;
  Outbox outbox_;
  std::size_t keep_reports_;
  std::optional<Started> started_;
  std::optional<LiveReport> latest_;
  std::deque<LiveReport> unread_;
  std::optional<std::vector<Report>> final_reports_;
  std::optional<Error> error_;
  bool closing_ = false;
  bool ended_ = false;
};

}  // namespace vidscore::detail

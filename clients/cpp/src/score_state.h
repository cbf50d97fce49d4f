// The state of a scoring stream, without any I/O.
//
// Its caller holds a lock, sends what `take` returns, passes in the responses, and wakes the
// waiters after each change.

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
  /// The response with which the server accepted the stream.
  const std::optional<Started>& started() const { return started_; }
  /// The newest live report.
  const std::optional<LiveReport>& latest() const { return latest_; }
  /// Whether the call is over, with or without an error.
  bool ended() const { return ended_; }
  /// Whether this side of the stream may be closed.
  bool nothing_to_send() const { return ended_ || (closing_ && outbox_.frames() == 0); }
  /// Whether `next_report` need not wait.
  bool readable() const { return ended_ || !unread_.empty(); }

  /// Accept frames if there is room; returns whether it did.
  bool admit(Side side, Item* item, Instant now);

  /// The error for frames that were not accepted, after a wait or without one.
  Error refusal(const std::optional<Duration>& waited) const;

  /// The next batch to send; nullopt if none is due.
  std::optional<Batch> take(Instant now);

  /// Accept no more frames, and make all frames due now.
  void close();

  /// Record a response.
  void receive(Started started);
  void receive(LiveReport report);
  void receive(std::vector<Report> final_reports);

  /// Record the end of the call; the first cause counts.
  void end(const std::optional<Error>& error);

  /// Throw the error of the stream, if it failed.
  void check() const;

  /// The oldest unread live report; nullopt if the stream has ended and there is none.
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

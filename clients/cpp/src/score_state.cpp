#include "score_state.h"

#include <limits>
#include <utility>

#include "failing.h"

namespace vidscore::detail {
namespace {

/// A limit that the server states; none if it does not.
std::size_t limit_named(const char* name, const Started& started) {
  const auto found = started.limits.find(name);
  const bool told = found != started.limits.end() && found->second >= 0;
  return told ? static_cast<std::size_t>(found->second) : std::numeric_limits<std::size_t>::max();
}

}  // namespace

ScoreState::ScoreState(const Batching& batching, const std::optional<Live>& live)
    : batching_(batching), outbox_(batching), keep_reports_(live ? live->keep_reports : 1) {}

bool ScoreState::admit(Side side, Item* item, Instant now) {
  check();
  if (closing_ || ended_) {
    raise(local_error(ErrorKind::closed, "the stream is finished and takes no more frames",
                      "CLOSED"));
  }
  return outbox_.offer(side, item, now);
}

Error ScoreState::refusal(const std::optional<Duration>& waited) const {
  return local_error(ErrorKind::back_pressure,
                     "the queue was full" + (waited ? " for " + show(*waited) : "") + ": " +
                         counted(outbox_.frames(), "frame") + " to be sent, queue_frames is " +
                         std::to_string(batching_.queue_frames) + ", queue_bytes is " +
                         std::to_string(batching_.queue_bytes),
                     "BACK_PRESSURE");
}

std::optional<Batch> ScoreState::take(Instant now) {
  return ended_ ? std::nullopt : outbox_.take(now);
}

void ScoreState::close() {
  closing_ = true;
  outbox_.flush();
}

void ScoreState::receive(Started started) {
  // The other half is for the tables of names, which the outbox does not count.
  outbox_.limit(limit_named("maximum_batch_frames", started),
                limit_named("maximum_message_bytes", started) / 2);
  started_ = std::move(started);
}

void ScoreState::receive(LiveReport report) {
  if (unread_.size() >= keep_reports_) unread_.pop_front();
  unread_.push_back(report);
  latest_ = std::move(report);
}

void ScoreState::receive(std::vector<Report> final_reports) {
  final_reports_ = std::move(final_reports);
}

void ScoreState::end(const std::optional<Error>& error) {
  if (ended_) return;
  ended_ = closing_ = true;
  if (error) {
    error_.emplace(*error);
  } else if (!final_reports_) {
    error_.emplace(
        local_error(ErrorKind::internal, "the server ended the stream without a final report"));
  }
}

void ScoreState::check() const {
  if (error_) raise(*error_);
}

std::optional<LiveReport> ScoreState::next_report() {
  if (unread_.empty()) {
    check();
    return std::nullopt;
  }
  LiveReport report = std::move(unread_.front());
  unread_.pop_front();
  return report;
}

std::vector<Report> ScoreState::final_reports() const {
  check();
  return final_reports_.value_or(std::vector<Report>());
}

}  // namespace vidscore::detail

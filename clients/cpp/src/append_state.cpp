#include "append_state.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "failing.h"

namespace vidscore::detail {
namespace {

/// Limits that fewer frames in a message may keep, although nobody knows how many.
const std::set<std::string> kMessageLimits = {
    "maximum_batch_labels",        "maximum_batch_objects",  "maximum_batch_sequences",
    "maximum_message_bytes",       "maximum_unstored_bytes", "maximum_unstored_call_bytes",
    "maximum_unstored_team_bytes",
};

[[noreturn]] void raise_superseded(const StreamInfo& known, const StreamInfo& opened) {
  raise(coded_error(ErrorKind::superseded, "ABORTED",
                    "another writer has opened stream " + quoted(known.stream) + " with epoch " +
                        std::to_string(known.epoch) + "; this writer has epoch " +
                        std::to_string(opened.epoch) + " and must stop",
                    "EPOCH_STALE"));
}

[[noreturn]] void raise_set_back(std::uint64_t found, std::uint64_t acknowledged) {
  raise(local_error(ErrorKind::conflict,
                    "the server has " + counted(found, "frame") +
                        " of the stream but had acknowledged " + std::to_string(acknowledged) +
                        ": it has lost frames",
                    "STREAM_SET_BACK"));
}

}  // namespace

AppendState::AppendState(StreamInfo opened, const Batching& batching, const Delivery& delivery,
                         bool replay)
    : opened_(std::move(opened)),
      batching_(batching),
      delivery_(delivery),
      outbox_(batching),
      retrying_(delivery.retry),
      acknowledged_(opened_.next_offset),
      to_skip_(replay ? opened_.next_offset : 0),
      taken_(opened_.next_offset) {}

std::optional<Instant> AppendState::stalled_at() const {
  if (sent_ == 0) return std::nullopt;
  return later(quiet_since_, delivery_.acknowledge_timeout);
}

Due AppendState::due() const {
  if (sent_ < window_.size()) return kNow;
  return has_room() ? outbox_.due() : std::nullopt;
}

bool AppendState::admit(Item* item, Instant now) {
  check();
  if (closing_ || ended_) {
    raise(
        local_error(ErrorKind::closed, "the stream is closed and takes no more frames", "CLOSED"));
  }
  if (item->frames.size() <= to_skip_) {
    to_skip_ -= item->frames.size();
    return true;
  }
  auto& frames = item->frames;
  frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(to_skip_));
  to_skip_ = 0;
  return outbox_.offer(Side::detections, item, now);
}

Error AppendState::refusal(const std::optional<Duration>& waited) const {
  return local_error(ErrorKind::back_pressure,
                     "the queue was full" + (waited ? " for " + show(*waited) : "") + ": " +
                         counted(outbox_.frames(), "frame") + " to be sent and " +
                         std::to_string(window_frames_) + " to be acknowledged, queue_frames is " +
                         std::to_string(batching_.queue_frames) + ", window_frames is " +
                         std::to_string(delivery_.window_frames),
                     "BACK_PRESSURE");
}

std::optional<Sent> AppendState::take(Instant now) {
  if (ended_ || (sent_ == window_.size() && !fill(now))) return std::nullopt;
  if (sent_ == 0) quiet_since_ = now;
  return window_[sent_++];
}

bool AppendState::acknowledge(std::uint64_t next_offset, Instant now) {
  if (next_offset > taken_) {
    raise(local_error(ErrorKind::internal, "the server acknowledged " +
                                               counted(next_offset, "frame") + ", but only " +
                                               std::to_string(taken_) + " had been sent"));
  }
  quiet_since_ = now;
  if (next_offset <= acknowledged_) return false;
  retrying_.progress();
  acknowledged_ = next_offset;
  while (!window_.empty() && window_.front().end() <= next_offset) release();
  if (!window_.empty() && window_.front().offset < next_offset) cut(next_offset);
  return true;
}

bool AppendState::resume(const StreamInfo* known, Instant now) {
  if (known != nullptr && known->epoch != opened_.epoch) raise_superseded(*known, opened_);
  const std::uint64_t found = known == nullptr ? 0 : known->next_offset;
  if (found < acknowledged_) raise_set_back(found, acknowledged_);
  const bool grown = acknowledge(found, now);
  sent_ = 0;
  broken_ = false;
  ++reconnections_;
  if (too_large_) put_back();
  return grown;
}

void AppendState::disconnect() {
  ++connection_;
  sent_ = 0;
}

Duration AppendState::delay(const Error& error, Instant now) {
  broken_ = true;
  sent_ = 0;
  if (idle() && is_break(error)) {
    return Duration::zero();  // without frames, there is nothing to retry
  }
  if (cut_smaller(error)) {
    too_large_ = true;
    return retrying_.again(error, now);
  }
  return retrying_.delay(error, now);
}

void AppendState::close() {
  closing_ = true;
  flush();
}

void AppendState::end(const std::optional<Error>& error) {
  if (ended_) return;
  ended_ = closing_ = true;
  if (error) error_.emplace(*error);
}

void AppendState::check() const {
  if (error_) raise(*error_);
}

void AppendState::check_delivered() const {
  if (!idle()) check();
}

bool AppendState::has_room() const {
  return window_.empty() ||
         (window_frames_ < delivery_.window_frames && window_bytes_ < delivery_.window_bytes);
}

/// Move the due batch, if any, into the window.
bool AppendState::fill(Instant now) {
  if (!has_room()) return false;
  std::optional<Batch> batch = outbox_.take(now);
  if (!batch) return false;
  window_frames_ += batch->frames.size();
  window_bytes_ += total_size(batch->frames);
  window_.push_back({taken_, std::make_shared<const std::vector<Frame>>(std::move(batch->frames))});
  taken_ = window_.back().end();
  return true;
}

void AppendState::release() {
  window_frames_ -= window_.front().frames->size();
  window_bytes_ -= total_size(*window_.front().frames);
  window_.pop_front();
  if (sent_ > 0) --sent_;
}

/// Make smaller batches than one that a server refused; returns whether earlier ones were larger.
bool AppendState::cut_smaller(const Error& error) {
  const auto& metadata = error.metadata();
  const auto named = metadata.find("limit");
  const auto maximum = metadata.find("maximum");
  if (named == metadata.end() || maximum == metadata.end()) return false;
  std::size_t most = 0;
  if (!(std::istringstream(maximum->second) >> most)) return false;
  if (named->second == "maximum_batch_frames") return outbox_.limit(most, batching_.batch_bytes);
  if (kMessageLimits.count(named->second) == 0) return false;
  // The other half is for the tables of names, which the outbox does not count.
  if (named->second == "maximum_message_bytes" && outbox_.limit(batching_.batch_frames, most / 2)) {
    return true;
  }
  std::size_t largest = 0;
  for (const Sent& sent : window_) largest = std::max(largest, sent.frames->size());
  return largest > 1 && outbox_.limit(largest / 2, batching_.batch_bytes);
}

/// Return unacknowledged frames to the outbox, to be cut again.
void AppendState::put_back() {
  for (; !window_.empty(); window_.pop_back()) {
    taken_ = window_.back().offset;
    outbox_.put_back(Side::detections, *window_.back().frames);
  }
  window_frames_ = window_bytes_ = 0;
  too_large_ = false;
}

/// Cut the oldest batch to its part from an offset on.
void AppendState::cut(std::uint64_t offset) {
  Sent& oldest = window_.front();
  const auto first = static_cast<std::ptrdiff_t>(offset - oldest.offset);
  auto rest = std::make_shared<const std::vector<Frame>>(oldest.frames->begin() + first,
                                                         oldest.frames->end());
  window_frames_ -= oldest.frames->size() - rest->size();
  window_bytes_ -= total_size(*oldest.frames) - total_size(*rest);
  oldest = {offset, std::move(rest)};
}

}  // namespace vidscore::detail

#include "outbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "encoding.h"

namespace vidscore::detail {
namespace {

constexpr std::array<Side, 2> kSides = {Side::truth, Side::detections};

bool has_masks(const Frame& frame) {
  return std::all_of(frame.objects.begin(), frame.objects.end(),
                     [](const Object& object) { return object.mask.has_value(); });
}

}  // namespace

std::size_t total_size(const std::vector<Frame>& frames) {
  std::size_t size = 0;
  for (const Frame& frame : frames) size += frame_size(frame);
  return size;
}

Due Outbox::due() const {
  if (!ready_.empty()) return kNow;
  Due due;
  for (const Gathering& waiting : gathering_) {
    if (waiting.frames.empty()) continue;
    const Instant at = later(waiting.since, batching_.batch_interval);
    due = due ? std::min(*due, at) : at;
  }
  return due;
}

bool Outbox::limit(std::size_t batch_frames, std::size_t batch_bytes) {
  const Batching before = batching_;
  batching_.batch_frames = std::min(batching_.batch_frames, std::max<std::size_t>(batch_frames, 1));
  batching_.batch_bytes = std::min(batching_.batch_bytes, std::max<std::size_t>(batch_bytes, 1));
  return batching_.batch_frames < before.batch_frames || batching_.batch_bytes < before.batch_bytes;
}

bool Outbox::offer(Side side, Item* item, Instant now) {
  const std::size_t count = item->frames.size();
  const std::size_t size = total_size(item->frames);
  const bool full =
      frames_ + count > batching_.queue_frames || bytes_ + size > batching_.queue_bytes;
  if (frames_ > 0 && full) return false;
  frames_ += count;
  bytes_ += size;
  if (item->single) {
    gather(side, std::move(item->frames.front()), size, now);
  } else {
    seal(side);
    ready_.push_back({side,
                      {std::make_move_iterator(item->frames.begin()),
                       std::make_move_iterator(item->frames.end())}});
  }
  return true;
}

void Outbox::put_back(Side side, const std::vector<Frame>& frames) {
  frames_ += frames.size();
  bytes_ += total_size(frames);
  ready_.push_front({side, {frames.begin(), frames.end()}});
}

void Outbox::flush() {
  for (const Side side : kSides) seal(side);
}

std::optional<Batch> Outbox::take(Instant now) {
  for (const Side side : kSides) {
    const Gathering& waiting = gathering(side);
    const bool due = now >= later(waiting.since, batching_.batch_interval);
    if (!waiting.frames.empty() && due) seal(side);
  }
  if (ready_.empty()) return std::nullopt;
  std::deque<Frame>& frames = ready_.front().frames;
  const auto end = frames.begin() + static_cast<std::ptrdiff_t>(frames_that_fit(frames));
  Batch batch{ready_.front().side,
              {std::make_move_iterator(frames.begin()), std::make_move_iterator(end)}};
  frames.erase(frames.begin(), end);
  if (frames.empty()) ready_.pop_front();
  frames_ -= batch.frames.size();
  bytes_ -= total_size(batch.frames);
  return batch;
}

void Outbox::gather(Side side, Frame frame, std::size_t size, Instant now) {
  Gathering& waiting = gathering(side);
  if (!waiting.frames.empty() && waiting.size + size > batching_.batch_bytes) seal(side);
  if (waiting.frames.empty()) waiting.since = now;
  waiting.frames.push_back(std::move(frame));
  waiting.size += size;
  if (waiting.frames.size() >= batching_.batch_frames) seal(side);
}

void Outbox::seal(Side side) {
  Gathering waiting = std::exchange(gathering(side), {});
  if (!waiting.frames.empty()) ready_.push_back({side, std::move(waiting.frames)});
}

/// Number of leading frames that fit into a message, in which either all objects have masks or none
/// has; at least one.
std::size_t Outbox::frames_that_fit(const std::deque<Frame>& frames) const {
  std::size_t count = 0;
  std::size_t size = 0;
  std::optional<bool> masked;
  for (const Frame& frame : frames) {
    size += frame_size(frame);
    if (count == batching_.batch_frames || size > batching_.batch_bytes) break;
    if (!frame.objects.empty() && masked.value_or(has_masks(frame)) != has_masks(frame)) break;
    if (!frame.objects.empty()) masked = has_masks(frame);
    ++count;
  }
  return std::max<std::size_t>(count, 1);
}

}  // namespace vidscore::detail

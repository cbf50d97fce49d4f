// When frames become batches, and how much may wait; with the clock of the test.

#include "outbox.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "checks.h"
#include "encoding.h"
#include "frames.h"

namespace vidscore::testing {
namespace {

using detail::Due;
using detail::Instant;
using detail::Item;
using detail::Outbox;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Bytes that a frame with one box counts.
constexpr std::size_t kBoxBytes = detail::kFrameBytes + detail::kObjectBytes + 4 * 8;
const Instant kStart = detail::Clock::now();

using Batches = std::vector<std::pair<Side, std::vector<std::int64_t>>>;

Batching batching() {
  Batching settings;
  settings.batch_interval = seconds(1);
  return settings;
}

bool offer(Outbox* outbox, Side side, Item item, Instant now = kStart) {
  return outbox->offer(side, &item, now);
}

/// Everything that is due: side and frame numbers of each batch.
Batches take_all(Outbox* outbox, Instant now) {
  Batches batches;
  while (const auto batch = outbox->take(now)) {
    batches.emplace_back(batch->side, numbers(batch->frames));
  }
  return batches;
}

Batches truth(const std::vector<std::vector<std::int64_t>>& batches) {
  Batches expected;
  for (const auto& batch : batches) expected.emplace_back(Side::truth, batch);
  return expected;
}

TEST(Outbox, HasAFrameDueWhenItsIntervalIsOverAndNotBefore) {
  Outbox outbox(batching());
  EXPECT_EQ(outbox.due(), Due());
  EXPECT_TRUE(offer(&outbox, Side::truth, single(0)));
  EXPECT_EQ(outbox.due(), Due(kStart + seconds(1)));
  EXPECT_FALSE(outbox.take(kStart + milliseconds(999)));
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{0}}));
  EXPECT_EQ(outbox.due(), Due());
}

TEST(Outbox, LetsTheFirstFrameOfABatchDecideWhenItIsDue) {
  Outbox outbox(batching());
  offer(&outbox, Side::truth, single(0));
  offer(&outbox, Side::truth, single(1), kStart + milliseconds(900));
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{0, 1}}));
  offer(&outbox, Side::truth, single(2), kStart + seconds(2));
  EXPECT_EQ(outbox.due(), Due(kStart + seconds(3)));
}

TEST(Outbox, HasAnIntervalForEachSide) {
  Outbox outbox(batching());
  offer(&outbox, Side::truth, single(0));
  offer(&outbox, Side::detections, single(0), kStart + milliseconds(500));
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{0}}));
  EXPECT_EQ(outbox.due(), Due(kStart + milliseconds(1500)));
  const Batches rest = {{Side::detections, {0}}};
  EXPECT_EQ(take_all(&outbox, kStart + milliseconds(1500)), rest);
}

TEST(Outbox, HasABatchOfTheGreatestNumberOfFramesDueAtOnce) {
  Batching settings = batching();
  settings.batch_frames = 3;
  Outbox outbox(settings);
  for (int number = 0; number < 7; ++number) offer(&outbox, Side::truth, single(number));
  EXPECT_EQ(outbox.due(), Due(detail::kNow));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{6}}));
}

TEST(Outbox, ClosesABatchBeforeItWouldGetTooLarge) {
  Batching settings = batching();
  settings.batch_bytes = 2 * kBoxBytes;
  Outbox outbox(settings);
  for (int number = 0; number < 3; ++number) offer(&outbox, Side::truth, single(number));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0, 1}}));
}

TEST(Outbox, SendsAFrameAloneThatIsLargerThanABatch) {
  Batching settings = batching();
  settings.batch_bytes = 2 * kBoxBytes;
  Outbox outbox(settings);
  offer(&outbox, Side::truth, single(0));
  offer(&outbox, Side::truth, single(1, 50));
  offer(&outbox, Side::truth, single(2));
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{0}, {1}, {2}}));
}

TEST(Outbox, KeepsWholeBatchesBehindSingleFrames) {
  Outbox outbox(batching());
  offer(&outbox, Side::truth, single(100));
  offer(&outbox, Side::truth, whole(0, 2));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{100}, {0, 1}}));
}

TEST(Outbox, CutsWholeBatchesByFramesAndByBytes) {
  Batching settings = batching();
  settings.batch_frames = 4;
  settings.batch_bytes = 3 * kBoxBytes;
  Outbox outbox(settings);
  offer(&outbox, Side::truth, whole(0, 7));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0, 1, 2}, {3, 4, 5}, {6}}));
}

TEST(Outbox, MakesSmallerBatchesForAServerButNoLargerOnes) {
  Batching settings = batching();
  settings.batch_frames = 4;
  Outbox outbox(settings);
  outbox.limit(100, 2 * kBoxBytes);
  offer(&outbox, Side::truth, whole(0, 5));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0, 1}, {2, 3}, {4}}));
  outbox.limit(1, 1000 * kBoxBytes);
  offer(&outbox, Side::truth, whole(0, 2));
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0}, {1}}));
}

TEST(Outbox, LetsNothingWaitWhenItIsFlushed) {
  Outbox outbox(batching());
  offer(&outbox, Side::truth, single(0));
  offer(&outbox, Side::detections, single(1));
  outbox.flush();
  const Batches expected = {{Side::truth, {0}}, {Side::detections, {1}}};
  EXPECT_EQ(take_all(&outbox, kStart), expected);
}

TEST(Outbox, TakesNothingInWhileItIsFull) {
  Batching settings = batching();
  settings.queue_frames = 3;
  settings.batch_frames = 2;
  Outbox outbox(settings);
  for (int number = 0; number < 3; ++number) {
    EXPECT_TRUE(offer(&outbox, Side::truth, single(number)));
  }
  EXPECT_FALSE(offer(&outbox, Side::detections, single(0)));
  EXPECT_EQ(outbox.frames(), 3u);
  EXPECT_TRUE(outbox.take(kStart));
  EXPECT_EQ(outbox.frames(), 1u);
  EXPECT_TRUE(offer(&outbox, Side::detections, single(0)));
}

TEST(Outbox, IsFullByBytesToo) {
  Batching settings = batching();
  settings.queue_bytes = 2 * kBoxBytes;
  Outbox outbox(settings);
  EXPECT_TRUE(offer(&outbox, Side::truth, single(0)));
  EXPECT_TRUE(offer(&outbox, Side::truth, single(1)));
  EXPECT_FALSE(offer(&outbox, Side::truth, single(2)));
}

TEST(Outbox, TakesInWhatIsLargerThanItselfWhereItIsEmpty) {
  Batching settings = batching();
  settings.queue_frames = 3;
  Outbox outbox(settings);
  EXPECT_TRUE(offer(&outbox, Side::truth, whole(0, 10)));
  EXPECT_FALSE(offer(&outbox, Side::truth, single(10)));
  EXPECT_EQ(take_all(&outbox, kStart), truth({count_to(10)}));
}

/// Whatever is offered, and whatever the sizes of batches.
TEST(Outbox, GivesEveryFrameOnceAndInOrder) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto chance = [&random](unsigned limit) { return random() % limit; };
    Batching settings = batching();
    settings.batch_frames = 1 + chance(6);
    settings.batch_bytes = 1 + chance(500);
    Outbox outbox(settings);
    std::vector<std::int64_t> given[2];
    std::vector<std::int64_t> taken[2];
    const auto take = [&](Instant now) {
      for (const auto& [side, batch] : take_all(&outbox, now)) {
        EXPECT_LE(batch.size(), settings.batch_frames);
        auto& list = taken[static_cast<int>(side)];
        list.insert(list.end(), batch.begin(), batch.end());
      }
    };
    for (unsigned step = chance(30); step > 0; --step) {
      const auto side = static_cast<Side>(chance(2));
      const std::int64_t count = 1 + chance(5);
      const bool alone = chance(2) == 0;
      const Item item = alone ? single(count, static_cast<std::size_t>(count)) : whole(0, count);
      auto& list = given[static_cast<int>(side)];
      for (const std::int64_t number : numbers(item.frames)) list.push_back(number);
      ASSERT_TRUE(offer(&outbox, side, item));
      take(kStart + milliseconds(400) * chance(5));
    }
    outbox.flush();
    take(kStart);
    EXPECT_EQ(taken[0], given[0]) << seed;
    EXPECT_EQ(taken[1], given[1]) << seed;
    EXPECT_EQ(outbox.frames(), 0u);
    EXPECT_EQ(outbox.due(), Due());
    EXPECT_TRUE(offer(&outbox, Side::truth, whole(0, 5000)));
  }
}

TEST(Outbox, PutsFramesWithMasksAndWithoutIntoMessagesOfTheirOwn) {
  Object masked = Object::box(0, 0, 1, 1);
  masked.mask = Mask{1, 1, {1}};
  const std::vector<Frame> given = {Frame{"a", 0, {masked}}, boxes(1), boxes(2, 0),
                                    Frame{"a", 3, {masked}}, Frame{"a", 4, {masked}}};
  Outbox outbox(batching());
  for (const Frame& frame : given) offer(&outbox, Side::truth, {{frame}, true});
  EXPECT_EQ(take_all(&outbox, kStart + seconds(1)), truth({{0}, {1, 2}, {3, 4}}));
  offer(&outbox, Side::truth, {given, false});
  EXPECT_EQ(take_all(&outbox, kStart), truth({{0}, {1, 2}, {3, 4}}));
}

TEST(Batching, IsRefusedWhereNothingWouldBeSent) {
  std::vector<Batching> wrong(6);
  wrong[0].batch_frames = 0;
  wrong[1].batch_bytes = 0;
  wrong[2].queue_frames = 0;
  wrong[3].queue_bytes = 0;
  wrong[4].batch_interval = milliseconds(-1);
  wrong[5].block_timeout = milliseconds(-1);
  for (const Batching& settings : wrong) EXPECT_THROW(detail::check(settings), InputError);
  EXPECT_NO_THROW(detail::check(Batching()));
}

}  // namespace
}  // namespace vidscore::testing

// The state of an append stream, against a model server that breaks, loses answers and continues.

#include "append_state.h"

#include <gtest/gtest.h>

#include <random>

#include "checks.h"
#include "failing.h"
#include "frames.h"

namespace vidscore::testing {
namespace {

using detail::AppendState;
using detail::Instant;
using detail::Item;
using detail::Sent;
using std::chrono::seconds;

const Instant kStart = detail::Clock::now();

Error broken() { return detail::coded_error(ErrorKind::unavailable, "UNAVAILABLE", "broken"); }

StreamInfo stream(std::int64_t epoch, std::uint64_t next_offset) {
  return {"default", epoch, next_offset};
}

AppendState new_state(std::uint64_t next_offset = 0, std::size_t window_frames = 4096,
                      bool replay = false) {
  Batching batching;
  batching.batch_frames = 3;
  batching.queue_frames = 1'000'000;
  Delivery delivery;
  delivery.window_frames = window_frames;
  return AppendState(stream(1, next_offset), batching, delivery, replay);
}

bool admit(AppendState* state, Item item) { return state->admit(&item, kStart); }

/// A server that stores whole batches by the offset protocol.
struct Model {
  std::vector<std::int64_t> stored;

  /// Store a batch unless it is stored already; returns whether it is stored.
  bool append(const Sent& batch) {
    const auto given = numbers(*batch.frames);
    if (batch.offset == stored.size()) stored.insert(stored.end(), given.begin(), given.end());
    if (batch.end() > stored.size()) return false;
    return std::equal(given.begin(), given.end(),
                      stored.begin() + static_cast<std::ptrdiff_t>(batch.offset));
  }

  StreamInfo known() const { return stream(1, stored.size()); }
};

/// A state, the server that it delivers to, and the number of frames that it got.
struct Play {
  AppendState state;
  Model server;
  std::int64_t offered = 0;

  void offer(unsigned count) {
    EXPECT_TRUE(admit(&state, whole(offered, offered + count)));
    offered += count;
  }

  void send(unsigned count) {
    for (; count > 0; --count) {
      const auto batch = state.take(kStart);
      EXPECT_TRUE(!batch || server.append(*batch));
    }
  }

  /// Batches that never arrive; whatever is sent after them is refused until a break.
  void lose(unsigned count) {
    bool lost = false;
    for (; count > 0; --count) lost = state.take(kStart).has_value() || lost;
    if (lost) break_off();
  }

  void answer(unsigned count) {
    state.acknowledge(count % 2 == 1 ? server.stored.size() : state.acknowledged(), kStart);
  }

  void break_off() {
    state.delay(broken(), kStart);
    const StreamInfo known = server.known();
    state.resume(&known, kStart);
  }
};

/// Batches arrive or not, answers arrive or not; in the end everything is delivered.
TEST(AppendState, StoresEveryFrameOnceAndInOrderWhateverBreaks) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    Play play{new_state(0, 1 + random() % 20), {}};
    for (unsigned step = random() % 60; step > 0; --step) {
      const unsigned count = 1 + random() % 7;
      switch (random() % 5) {
        case 0:
          play.offer(count);
          break;
        case 1:
          play.send(count);
          break;
        case 2:
          play.lose(count);
          break;
        case 3:
          play.answer(count);
          break;
        default:
          play.break_off();
      }
      ASSERT_LE(play.state.acknowledged(), play.server.stored.size());
    }
    play.break_off();
    for (int round = 0; round < 200; ++round) {
      play.send(7);
      play.answer(7);
    }
    EXPECT_EQ(play.server.stored, count_to(play.offered)) << seed;
    EXPECT_TRUE(play.state.drained());
    EXPECT_EQ(play.state.acknowledged(), static_cast<std::uint64_t>(play.offered));
  }
}

Error too_large(const std::string& limit, const std::string& maximum) {
  ErrorFacts facts;
  facts.kind = ErrorKind::limit_exceeded;
  facts.message = "too large";
  facts.code = "RESOURCE_EXHAUSTED";
  facts.reason = "LIMIT_EXCEEDED";
  facts.metadata = {{"limit", limit}, {"maximum", maximum}};
  return Error(facts);
}

/// Of 7 frames in batches of 3 the server has the first 3, and accepts 2 at a time from now on.
TEST(AppendState, CutsBatchesAnewWhereAServerTakesSmallerOnesThanItSaid) {
  AppendState state = new_state();
  admit(&state, whole(0, 7));
  while (state.take(kStart)) {
  }
  EXPECT_EQ(state.delay(too_large("maximum_batch_frames", "2"), kStart), seconds(0));
  const StreamInfo known = stream(1, 3);
  EXPECT_TRUE(state.resume(&known, kStart));
  EXPECT_EQ(state.undelivered(), 4u);
  using Numbers = std::vector<std::int64_t>;
  for (const Numbers& expected : {Numbers{3, 4}, Numbers{5}, Numbers{6}}) {
    const auto batch = state.take(kStart);
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->offset, static_cast<std::uint64_t>(expected.front()));
    EXPECT_EQ(numbers(*batch->frames), expected);
  }
  EXPECT_FALSE(state.take(kStart));
  EXPECT_EQ(state.undelivered(), 4u);
}

TEST(AppendState, EndsWhereABatchCannotBeCutSmaller) {
  AppendState state = new_state();
  admit(&state, whole(0, 3));
  state.delay(too_large("maximum_batch_frames", "2"), kStart);
  state.delay(too_large("maximum_batch_frames", "1"), kStart);
  EXPECT_THROW(state.delay(too_large("maximum_batch_frames", "1"), kStart), LimitExceededError);
}

TEST(AppendState, HalvesABatchOverAnotherLimitUnlessNoCutHelps) {
  AppendState state = new_state();
  admit(&state, whole(0, 5));
  while (state.take(kStart)) {
  }
  const Error refusal = too_large("maximum_batch_objects", "4");
  EXPECT_THROW(state.delay(too_large("maximum_frame_objects", "4"), kStart), LimitExceededError);
  state.delay(refusal, kStart);
  const StreamInfo known = stream(1, 0);
  EXPECT_FALSE(state.resume(&known, kStart));
  for (std::int64_t number = 0; number < 5; ++number) {
    const auto batch = state.take(kStart);
    ASSERT_TRUE(batch);
    EXPECT_EQ(numbers(*batch->frames), (std::vector<std::int64_t>{number}));
  }
  EXPECT_THROW(state.delay(refusal, kStart), LimitExceededError);
}

/// A batch of 3, of which 2 are stored, as by a server that cuts batches.
TEST(AppendState, SendsABatchOfWhichAPartIsDurableFromThereOn) {
  AppendState state = new_state();
  admit(&state, whole(0, 3));
  EXPECT_TRUE(state.take(kStart));
  state.delay(broken(), kStart);
  const StreamInfo known = stream(1, 2);
  EXPECT_TRUE(state.resume(&known, kStart));
  const auto rest = state.take(kStart);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 2u);
  EXPECT_EQ(numbers(*rest->frames), (std::vector<std::int64_t>{2}));
}

/// Batches of 3 and 2, of which 4 frames are durable: if all frames are sent again from the first
/// on, the fifth is sent.
TEST(AppendState, LeavesOutOfAReplayWhatWasDurableAtOpening) {
  AppendState state = new_state(4, 4096, true);
  EXPECT_TRUE(admit(&state, whole(0, 3)));
  EXPECT_TRUE(state.idle());
  EXPECT_TRUE(admit(&state, whole(3, 5)));
  const auto rest = state.take(kStart);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->offset, 4u);
  EXPECT_EQ(numbers(*rest->frames), (std::vector<std::int64_t>{4}));
}

TEST(AppendState, RefusesAcknowledgementsOfFramesThatWereNeverSent) {
  AppendState state = new_state();
  try {
    state.acknowledge(1, kStart);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_EQ(error.message(), "the server acknowledged 1 frame, but only 0 had been sent");
  }
}

TEST(AppendState, LearnsNothingFromAnOldAcknowledgement) {
  AppendState state = new_state(5);
  EXPECT_FALSE(state.acknowledge(3, kStart));
  EXPECT_EQ(state.acknowledged(), 5u);
}

TEST(AppendState, CannotBeResumedWhereTheStreamIsNotAsItWas) {
  const StreamInfo younger = stream(2, 5);
  const StreamInfo shorter = stream(1, 4);
  AppendState state = new_state(5);
  EXPECT_THROW(state.resume(&younger, kStart), SupersededError);
  EXPECT_THROW(state.resume(&shorter, kStart), ConflictError);
  EXPECT_THROW(state.resume(nullptr, kStart), ConflictError);
}

/// Within 30 s of the last answer or, before the first, of sending; never with all answered.
TEST(AppendState, StallsWhenWhatWasSentIsNotAnsweredInTime) {
  using At = std::optional<Instant>;
  AppendState state = new_state();
  admit(&state, whole(0, 6));
  EXPECT_EQ(state.stalled_at(), At());
  state.take(kStart + seconds(10));
  EXPECT_EQ(state.stalled_at(), At(kStart + seconds(40)));
  state.take(kStart + seconds(20));
  EXPECT_EQ(state.stalled_at(), At(kStart + seconds(40)));
  state.acknowledge(3, kStart + seconds(25));
  EXPECT_EQ(state.stalled_at(), At(kStart + seconds(55)));
  state.acknowledge(6, kStart + seconds(26));
  EXPECT_EQ(state.stalled_at(), At());
}

TEST(AppendState, DoesNotCountBreaksWhileNothingWaits) {
  AppendState state = new_state();
  for (int hours = 0; hours < 3; ++hours) {
    const Instant now = kStart + std::chrono::hours(hours);
    EXPECT_EQ(state.delay(detail::ended_early(), now), Duration(0));
  }
  const Error refused = detail::coded_error(ErrorKind::conflict, "ALREADY_EXISTS", "no");
  EXPECT_THROW(state.delay(refused, kStart), ConflictError);
}

TEST(AppendState, HoldsBatchesBackWhileTheWindowIsFull) {
  AppendState state = new_state(0, 4);
  admit(&state, whole(0, 9));
  EXPECT_TRUE(state.take(kStart));
  EXPECT_TRUE(state.take(kStart));
  EXPECT_FALSE(state.take(kStart));
  state.acknowledge(3, kStart);
  const auto next = state.take(kStart);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->offset, 6u);
}

TEST(Delivery, IsRefusedWhereNothingWouldBeDelivered) {
  std::vector<Delivery> wrong(3);
  wrong[0].window_frames = 0;
  wrong[1].window_bytes = 0;
  wrong[2].acknowledge_timeout = Duration(0);
  for (const Delivery& delivery : wrong) EXPECT_THROW(detail::check(delivery), InputError);
  EXPECT_NO_THROW(detail::check(Delivery()));
}

}  // namespace
}  // namespace vidscore::testing

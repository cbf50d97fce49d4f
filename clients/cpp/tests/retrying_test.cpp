// Retries, with the clock and the chance of the test.

#include "retrying.h"

#include <gtest/gtest.h>

#include "checks.h"
#include "failing.h"

namespace vidscore::testing {
namespace {

using detail::coded_error;
using detail::Instant;
using detail::is_break;
using detail::Retrying;
using std::chrono::seconds;

const Instant kStart = detail::Clock::now();

Error broken() { return coded_error(ErrorKind::unavailable, "UNAVAILABLE", "broken"); }

std::vector<double> waits(double chance) {
  Retry retry;
  retry.initial = seconds(1);
  retry.maximum = seconds(4);
  Retrying retrying(retry, [chance] { return chance; });
  std::vector<double> found;
  for (int count = 0; count < 6; ++count) {
    found.push_back(std::chrono::duration<double>(retrying.delay(broken(), kStart)).count());
  }
  return found;
}

/// At once, then 1, 2, 4, 4, ... s, half of which is random.
TEST(Retrying, DoublesItsWaitsUpToTheLongest) {
  EXPECT_EQ(waits(1.0), (std::vector<double>{0, 1, 2, 4, 4, 4}));
  EXPECT_EQ(waits(0.0), (std::vector<double>{0, 0.5, 1, 2, 2, 2}));
}

TEST(Retrying, GivesUpWhereThereIsNoProgressForSoLong) {
  Retry retry;
  retry.give_up_after = seconds(100);
  Retrying retrying(retry);
  EXPECT_NO_THROW(retrying.delay(broken(), kStart));
  EXPECT_NO_THROW(retrying.delay(broken(), kStart + seconds(99)));
  retrying.progress();
  EXPECT_NO_THROW(retrying.delay(broken(), kStart + seconds(100)));
  EXPECT_NO_THROW(retrying.delay(broken(), kStart + seconds(199)));
  EXPECT_THROW(retrying.delay(broken(), kStart + seconds(200)), UnavailableError);
}

TEST(Retrying, MayGoOnWithoutEnd) {
  Retry retry;
  retry.give_up_after = std::nullopt;
  Retrying retrying(retry);
  for (int count = 0; count < 2000; ++count) {
    EXPECT_LE(retrying.delay(broken(), kStart + std::chrono::hours(9000)), seconds(10));
  }
}

TEST(Retrying, TakesWhatAnotherTryMayMendForABreak) {
  const auto full = [](const char* reason) {
    return coded_error(ErrorKind::limit_exceeded, "RESOURCE_EXHAUSTED", "full", reason);
  };
  EXPECT_TRUE(is_break(full("STORE_FULL")));
  EXPECT_FALSE(is_break(full("LIMIT_EXCEEDED")));
  EXPECT_TRUE(is_break(coded_error(ErrorKind::internal, "INTERNAL", "reset")));
  EXPECT_TRUE(is_break(coded_error(ErrorKind::conflict, "OUT_OF_RANGE", "", "OFFSET_GAP")));
  EXPECT_FALSE(is_break(detail::local_error(ErrorKind::internal, "here")));
  ErrorFacts bug;
  bug.code = "INTERNAL";
  bug.metadata["incident"] = "1";
  EXPECT_FALSE(is_break(Error(bug)));
}

TEST(Retrying, WaitsNoShorterThanTheServerWantsAndNotBeyondTheDeadline) {
  Retry retry;
  retry.initial = std::chrono::seconds(1);
  retry.maximum = std::chrono::seconds(8);
  retry.give_up_after = std::chrono::minutes(1);
  Retrying tries(retry, [] { return 1.0; });
  ErrorFacts busy;
  busy.kind = ErrorKind::limit_exceeded;
  busy.code = "RESOURCE_EXHAUSTED";
  busy.retry_delay = std::chrono::seconds(3);
  const Instant now{};
  for (const int delay_s : {3, 3, 3, 4, 8}) {
    EXPECT_EQ(tries.delay(Error(busy), now), Duration(std::chrono::seconds(delay_s)));
  }
  busy.retry_delay = std::chrono::seconds(61);
  EXPECT_THROW(tries.delay(Error(busy), now), LimitExceededError);
}

TEST(Keepalive, IsRefusedWhereAServerWouldTakeItForAnAttack) {
  Keepalive often;
  often.interval = std::chrono::seconds(9);
  Keepalive none;
  none.timeout = Duration(0);
  EXPECT_THROW(detail::check(often), InputError);
  EXPECT_THROW(detail::check(none), InputError);
  EXPECT_NO_THROW(detail::check(Keepalive()));
}

TEST(Retry, IsRefusedWhereItsTimesAreNone) {
  Retry none;
  none.initial = Duration(0);
  Retry backwards;
  backwards.maximum = std::chrono::milliseconds(1);
  EXPECT_THROW(detail::check(none), InputError);
  EXPECT_THROW(detail::check(backwards), InputError);
  EXPECT_NO_THROW(detail::check(Retry()));
}

}  // namespace
}  // namespace vidscore::testing

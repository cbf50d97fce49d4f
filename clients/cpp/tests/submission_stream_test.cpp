// Submission streams against a server that follows the offset protocol, and breaks.

#include <gtest/gtest.h>

#include <mutex>
#include <stdexcept>
#include <thread>

#include "fake_submissions.h"
#include "frames.h"

namespace vidscore::testing {
namespace {

using std::chrono::milliseconds;

constexpr Duration kWait = std::chrono::seconds(60);

/// Batches of 10 frames, and a client that retries soon.
SubmitOptions options_of() {
  SubmitOptions options;
  options.benchmark = "streets";
  options.submission = "run";
  options.batching.batch_frames = 10;
  options.delivery.retry.initial = milliseconds(5);
  options.delivery.retry.maximum = milliseconds(5);
  return options;
}

std::uint64_t send_all(SubmissionStream* stream, std::int64_t count) {
  for (std::int64_t number = 0; number < count; ++number) stream->send(boxes(number));
  return stream->flush(kWait);
}

TEST(SubmissionStream, StoresAcknowledgesAndSealsFrames) {
  FakeSubmissions server;
  SubmitOptions options = options_of();
  std::mutex mutex;
  std::vector<std::uint64_t> told;
  options.delivery.on_acknowledged = [&](std::uint64_t frames) {
    const std::lock_guard<std::mutex> lock(mutex);
    told.push_back(frames);
  };
  SubmissionStream stream = server.client().submit(options);
  EXPECT_EQ(stream.submission(), kRun);
  EXPECT_EQ(stream.next_offset(), 0u);
  EXPECT_EQ(send_all(&stream, 25), 25u);
  stream.seal(25, kWait);
  EXPECT_EQ(told, (std::vector<std::uint64_t>{10, 20, 25}));
  EXPECT_EQ(server.stored, count_to(25));
  EXPECT_EQ(server.sealed_with, (std::vector<std::int64_t>{25}));
  EXPECT_EQ(stream.scores().size(), 1u);
  EXPECT_THROW(stream.send(boxes(25)), ClosedError);
}

/// Over one call, and with a call for each batch.
TEST(SubmissionStream, LosesNoFrameAndStoresNoneTwiceWhateverBreaks) {
  for (const bool unary : {false, true}) {
    FakeSubmissions server;
    server.faults = {Fault::none,      Fault::break_after, Fault::break_before, Fault::none,
                     Fault::take_half, Fault::fall_behind, Fault::break_after,  Fault::take_half};
    SubmitOptions options = options_of();
    options.delivery.unary = unary;
    SubmissionStream stream = server.client().submit(options);
    EXPECT_EQ(send_all(&stream, 205), 205u);
    const detail::Lock lock = server.lock();
    EXPECT_EQ(server.stored, count_to(205)) << unary;
    EXPECT_TRUE(server.faults.empty());
    for (const auto& [offset, epoch] : server.offsets) EXPECT_EQ(epoch, 1) << offset;
    EXPECT_GE(stream.reconnections(), 4u);
  }
}

/// It would end the stream if it were sent, with all frames before it.
TEST(SubmissionStream, RefusesTextsThatAreNoUtf8AndGoesOn) {
  FakeSubmissions server;
  SubmissionStream stream = server.client().submit(options_of());
  const std::vector<std::string> wrong = {"\xff",
                                          "a\x80",
                                          "\xc3",
                                          "\xc0\xaf",
                                          "\xe0\x9f\xbf",
                                          "\xed\xa0\x80",
                                          "\xf0\x8f\xbf\xbf",
                                          "\xf4\x90\x80\x80",
                                          "\xf5\x80\x80\x80",
                                          "\xe2\x82"};
  for (const std::string& text : wrong) {
    Frame named = boxes(0);
    named.sequence = text;
    EXPECT_THROW(stream.send(named), InputError) << ::testing::PrintToString(text);
    Frame labelled = boxes(0);
    labelled.objects[0].label = text;
    EXPECT_THROW(stream.send_batch({labelled}), InputError);
    Frame placed = boxes(0);
    placed.domain = text;
    EXPECT_THROW(stream.send(placed), InputError);
  }
  try {
    stream.send(Frame{"a\xff", 0});
    FAIL() << "it was taken";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "sequence: found 'a\\xff', expected UTF-8 text");
  }
  Frame right = boxes(0);
  right.objects[0].label = "\xc3\x9f \xe2\x82\xac \xf0\x9f\x9a\x97 \xed\x9f\xbf \xf4\x8f\xbf\xbf";
  stream.send(right);
  EXPECT_EQ(stream.flush(kWait), 1u);
}

TEST(SubmissionStream, MakesNoLargerMessagesThanTheServerTakes) {
  FakeSubmissions server;
  server.limits = {{"maximum_batch_frames", 4}, {"maximum_message_bytes", 1 << 20}};
  SubmissionStream stream = server.client().submit(options_of());
  stream.send_batch(frames(0, 10));
  EXPECT_EQ(stream.flush(kWait), 10u);
  const detail::Lock lock = server.lock();
  EXPECT_EQ(server.offsets,
            (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {4, 1}, {8, 1}}));
}

TEST(SubmissionStream, TakesAServerThatAnswersNothingForABrokenConnection) {
  FakeSubmissions server;
  server.faults = {Fault::none, Fault::say_nothing};
  SubmitOptions options = options_of();
  options.delivery.acknowledge_timeout = milliseconds(200);
  SubmissionStream stream = server.client().submit(options);
  EXPECT_EQ(send_all(&stream, 30), 30u);
  EXPECT_EQ(server.stored, count_to(30));
}

TEST(SubmissionStream, SendsWhatIsNotDurableWhereAProgramStartsAgain) {
  FakeSubmissions server;
  {
    SubmissionStream stream = server.client().submit(options_of());
    send_all(&stream, 15);
  }
  SubmitOptions options = options_of();
  options.replay = true;
  SubmissionStream stream = server.client().submit(options);
  EXPECT_EQ(stream.next_offset(), 15u);
  EXPECT_EQ(send_all(&stream, 40), 40u);
  EXPECT_EQ(server.stored, count_to(40));
  EXPECT_EQ(server.creations, (std::vector<std::string>{"run"}));
}

TEST(SubmissionStream, ShutsAnOlderWriterOut) {
  FakeSubmissions server;
  SubmissionStream older = server.client().submit(options_of());
  send_all(&older, 10);
  SubmissionStream younger = server.client().submit(options_of());
  try {
    send_all(&older, 10);
    FAIL();
  } catch (const SupersededError& error) {
    EXPECT_EQ(error.reason(), "EPOCH_STALE");
  }
  EXPECT_NO_THROW(younger.flush(kWait));
}

TEST(SubmissionStream, TellsWhatAnotherTryWouldNotMendAndDoesNotTryAgain) {
  FakeSubmissions server;
  server.faults = {Fault::refuse};
  SubmissionStream stream = server.client().submit(options_of());
  stream.send_batch(frames(0, 10));
  EXPECT_THROW(stream.flush(kWait), LimitExceededError);
  EXPECT_THROW(stream.send(boxes(10)), LimitExceededError);
  EXPECT_EQ(server.offsets.size(), 1u);
}

TEST(SubmissionStream, GivesUpWhereTheServerStaysAway) {
  FakeSubmissions server;
  SubmitOptions options = options_of();
  options.delivery.retry.give_up_after = milliseconds(50);
  SubmissionStream stream = server.client().submit(options);
  send_all(&stream, 10);
  server.stop();
  stream.send_batch(frames(10, 20));
  EXPECT_THROW(stream.flush(kWait), UnavailableError);
}

TEST(SubmissionStream, RefusesFramesAtOnceOrAfterAWhileWhereTheQueueIsFull) {
  for (const Policy policy : {Policy::raise, Policy::block}) {
    FakeSubmissions server;
    server.faults = {Fault::say_nothing};
    SubmitOptions options = options_of();
    options.batching.batch_frames = 1;
    options.batching.queue_frames = 3;
    options.batching.policy = policy;
    options.batching.block_timeout = milliseconds(50);
    options.delivery.window_frames = 1;
    SubmissionStream stream = server.client().submit(options);
    EXPECT_THROW(send_all(&stream, 6), BackPressureError);
    stream.abort();
  }
}

TEST(SubmissionStream, LetsABlockedSenderGoOnWhenThereIsRoom) {
  FakeSubmissions server;
  SubmitOptions options = options_of();
  options.batching.batch_frames = 1;
  options.batching.queue_frames = 1;
  SubmissionStream stream = server.client().submit(options);
  EXPECT_EQ(send_all(&stream, 2000), 2000u);
  EXPECT_EQ(server.stored, count_to(2000));
}

TEST(SubmissionStream, EndsWhereACallbackThrowsOrWaitsForItself) {
  for (const bool waits : {false, true}) {
    FakeSubmissions server;
    SubmitOptions options = options_of();
    SubmissionStream* itself = nullptr;
    std::mutex mutex;
    options.delivery.on_acknowledged = [&](std::uint64_t) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (waits) itself->flush();
      throw std::runtime_error("on purpose");
    };
    SubmissionStream stream = server.client().submit(options);
    {
      const std::lock_guard<std::mutex> lock(mutex);
      itself = &stream;
    }
    stream.send_batch(frames(0, 30));
    EXPECT_THROW(stream.flush(kWait), CallbackError);
  }
}

TEST(SubmissionStream, MakesASealAgainWhoseAnswerIsLost) {
  FakeSubmissions server;
  server.lose_seals = 1;
  SubmissionStream stream = server.client().submit(options_of());
  send_all(&stream, 3);
  stream.seal(3, kWait);
  EXPECT_EQ(server.sealed_with, (std::vector<std::int64_t>{3, 3}));
  try {
    server.client().submissions().seal("streets/run", 4);
    FAIL();
  } catch (const ConflictError& error) {
    EXPECT_EQ(error.reason(), "FRAME_COUNT_DIFFERS");
  }
}

TEST(SubmissionStream, DeliversNoMoreWhenItIsAborted) {
  FakeSubmissions server;
  server.faults = {Fault::say_nothing};
  SubmissionStream stream = server.client().submit(options_of());
  stream.send_batch(frames(0, 10));
  stream.abort();
  EXPECT_THROW(stream.flush(kWait), ClosedError);
  EXPECT_TRUE(server.stored.empty());
}

TEST(SubmissionStream, DeliversWhatWasTakenWhenItIsClosedOrDestroyed) {
  FakeSubmissions server;
  {
    SubmissionStream stream = server.client().submit(options_of());
    stream.send_batch(frames(0, 7));
    stream.close();
    stream.close();
    EXPECT_EQ(server.stored, count_to(7));
    EXPECT_THROW(stream.send(boxes(7)), ClosedError);
  }
  {
    SubmissionStream stream = server.client().submit(options_of());
    stream.send(boxes(7));
  }
  EXPECT_EQ(server.stored, count_to(8));
}

/// The second one to close has to wait as the first one does.
TEST(SubmissionStream, DeliversWhatWasTakenToTwoThatCloseItAtOnce) {
  FakeSubmissions server;
  server.faults = {Fault::say_nothing};
  SubmitOptions options = options_of();
  options.delivery.acknowledge_timeout = milliseconds(300);
  SubmissionStream stream = server.client().submit(options);
  stream.send_batch(frames(0, 7));
  const auto close = [&stream] {
    stream.close();
    EXPECT_EQ(stream.undelivered_frames(), 0u);
  };
  std::thread first(close);
  std::thread second(close);
  first.join();
  second.join();
}

TEST(SubmissionStream, SaysHowManyFramesItGivesUpWhenItIsClosedInVain) {
  FakeSubmissions server;
  server.faults = {Fault::say_nothing, Fault::say_nothing};
  SubmitOptions options = options_of();
  options.delivery.close_timeout = milliseconds(20);
  SubmissionStream stream = server.client().submit(options);
  stream.send_batch(frames(0, 7));
  try {
    stream.close();
    FAIL();
  } catch (const DeadlineError& error) {
    EXPECT_EQ(error.message().rfind("7 frames dropped: not durable within", 0), 0u);
  }
  EXPECT_EQ(stream.undelivered_frames(), 7u);
  EXPECT_NO_THROW(stream.close());  // the error was reported already
  EXPECT_THROW(stream.seal(7, kWait), DeadlineError);
  SubmissionStream left = server.client().submit(options_of());
  left.send_batch(frames(0, 7));
  left.abort();
  EXPECT_NO_THROW(left.close());
  EXPECT_EQ(left.undelivered_frames(), 7u);
}

TEST(SubmissionStream, EndsACallWithoutAnAnswerWhenItIsClosedOrAborted) {
  ClientOptions unhurried;
  unhurried.timeout = std::chrono::hours(1);
  for (const bool closes : {true, false}) {
    FakeSubmissions server;
    server.faults = {Fault::say_nothing};
    SubmitOptions options = options_of();
    options.delivery.unary = true;
    options.delivery.close_timeout = milliseconds(20);
    SubmissionStream stream = server.client(unhurried).submit(options);
    stream.send_batch(frames(0, 7));
    const auto came = [&server] {
      const detail::Lock lock = server.lock();
      return !server.offsets.empty();
    };
    while (!came()) std::this_thread::sleep_for(milliseconds(1));
    if (closes) {
      EXPECT_THROW(stream.close(), DeadlineError);
    } else {
      stream.abort();
    }
  }  // a stream's end waits for its thread
}

TEST(SubmissionStream, GivesUpAtOnceWhereAnExceptionUnwindsTheStack) {
  FakeSubmissions server;
  server.faults = {Fault::say_nothing};
  const auto fail = [&server] {
    SubmissionStream stream = server.client().submit(options_of());
    stream.send_batch(frames(0, 7));
    throw std::runtime_error("on purpose");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_TRUE(server.stored.empty());
}

TEST(SubmissionStream, GoesOnWhereAFlushWasGivenUp) {
  FakeSubmissions server;
  server.faults = {Fault::say_nothing};
  SubmitOptions options = options_of();
  options.delivery.acknowledge_timeout = milliseconds(300);
  SubmissionStream stream = server.client().submit(options);
  stream.send_batch(frames(0, 10));
  EXPECT_THROW(stream.flush(milliseconds(20)), DeadlineError);
  EXPECT_EQ(stream.flush(kWait), 10u);
}

TEST(SubmissionStream, SaysThatANameIsAnotherTeams) {
  FakeSubmissions server;
  server.refuse_creation = "NAME_TAKEN";
  try {
    server.client().submit(options_of());
    FAIL();
  } catch (const ConflictError& error) {
    EXPECT_EQ(error.reason(), "NAME_TAKEN");
  }
}

TEST(SubmissionStream, RefusesABenchmarkWhoseShapeOfDetectionsIsNotKnownYet) {
  FakeSubmissions server;
  server.geometry = wire::GEOMETRY_UNSPECIFIED;
  try {
    server.client().submit(options_of());
    FAIL();
  } catch (const ConflictError& error) {
    EXPECT_EQ(error.reason(), "BENCHMARK_NOT_OPEN");
  }
  EXPECT_TRUE(server.creations.empty());
}

TEST(SubmissionStream, RefusesNamesThatAreNoneAndObjectsOfAnotherShape) {
  FakeSubmissions server;
  const Client client = server.client();
  SubmitOptions options = options_of();
  options.benchmark = "nowhere";
  EXPECT_THROW(client.submit(options), NotFoundError);
  options.benchmark = "a/b";
  EXPECT_THROW(client.submit(options), InputError);
  for (const char* name : {"run", "a/b/c", "/run", "benchmarks/a/submissions/"}) {
    EXPECT_THROW(client.submissions().get(name), InputError) << name;
  }
  SubmissionStream stream = client.submit(options_of());
  const Frame point{"a", 0, {Object::point(1, 2)}, "", false};
  EXPECT_THROW(stream.send(point), InputError);
  EXPECT_THROW(stream.send_batch({point}), InputError);
}

TEST(Submissions, GoOnWatchingFromTheRevisionThatIsKnown) {
  FakeSubmissions server;
  server.watch_script = {{{wire::SUBMISSION_STATE_SEALED, 4}, {wire::SUBMISSION_STATE_SEALED, 0}},
                         {},
                         {{wire::SUBMISSION_STATE_SCORING, 5}, {wire::SUBMISSION_STATE_SCORED, 6}}};
  std::vector<std::int64_t> revisions;
  Retry soon;
  soon.initial = soon.maximum = milliseconds(5);
  const auto keep = [&revisions](const SubmissionUpdate& update) {
    revisions.push_back(update.submission.revision);
    return true;
  };
  server.client().submissions().watch("streets/run", keep, kWait, soon);
  EXPECT_EQ(revisions, (std::vector<std::int64_t>{4, 5, 6}));
  EXPECT_EQ(server.watches, (std::vector<std::int64_t>{0, 4, 4}));
}

TEST(Submissions, AreNotWaitedForLongerThanWanted) {
  FakeSubmissions server;
  const Submissions submissions = server.client().submissions();
  EXPECT_THROW(submissions.wait("streets/run", milliseconds(50)), DeadlineError);
}

TEST(Client, ReadsSubmissionsAndBoardsPageByPage) {
  FakeSubmissions server;
  const Client client = server.client();
  EXPECT_EQ(client.submissions().list("streets").size(), 2u);
  LeaderboardQuery query;
  query.benchmark = "streets";
  const Leaderboard board = client.leaderboard(query);
  ASSERT_EQ(board.rows.size(), 2u);
  EXPECT_EQ(board.rows[0].scores.at("f1"), std::nullopt);
  EXPECT_EQ(board.rows[1].scores.at("f1"), std::optional<double>(0.5));
  EXPECT_EQ(board.ranking, (std::vector<std::string>{"f1"}));
  EXPECT_TRUE(has_ended(client.submissions().cancel("streets/run").state));
}

}  // namespace
}  // namespace vidscore::testing

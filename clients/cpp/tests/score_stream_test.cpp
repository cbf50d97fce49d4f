// Scoring streams against a scripted server.

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <thread>

#include "fake_scoring.h"
#include "frames.h"

namespace vidscore::testing {
namespace {

using std::chrono::milliseconds;

ScoreOptions options_of(std::size_t batch_frames = 256, std::size_t queue_frames = 4096) {
  ScoreOptions options;
  options.evaluators = {"fake"};
  options.batching.batch_frames = batch_frames;
  options.batching.queue_frames = queue_frames;
  return options;
}

/// The number of frames that a final report counts.
std::int64_t frames_of(const std::vector<Report>& reports) {
  const Row* row = reports.at(0).find("frames");
  return row == nullptr ? -1 : std::get<std::int64_t>(row->value);
}

/// The kind of error that something throws.
template <typename Call>
std::string kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return to_string(error.kind());
  }
  return "none";
}

TEST(ScoreStream, SendsEveryFrameOfBothSidesAndGivesTheFinalReport) {
  FakeScoring server(Script::accept);
  ScoreStream stream = server.client().score_stream(options_of());
  EXPECT_EQ(stream.server_version(), "9.8.7");
  for (int number = 0; number < 5; ++number) {
    stream.send_truth(boxes(number));
    stream.send(boxes(number));
  }
  const auto reports = stream.finish(kWait);
  EXPECT_EQ(frames_of(reports), 10);
  EXPECT_EQ(reports.at(0).find("other"), nullptr);
  EXPECT_THROW(stream.send(boxes(9)), ClosedError);
}

/// Two sides of 600 frames: three messages per side, because a message has at most 256.
TEST(ScoreStream, SendsEverythingAtOnceInBatchesOfBothSidesInTurns) {
  FakeScoring server(Script::accept);
  const auto reports = server.client().score(options_of(), frames(0, 600), frames(0, 600));
  EXPECT_EQ(frames_of(reports), 1200);
  EXPECT_EQ(server.batch_sizes(), (std::vector<int>{256, 256, 256, 256, 88, 88}));
}

TEST(ScoreStream, SendsBatchesNoLargerThanTheServerTakes) {
  FakeScoring server(Script::accept, {{"maximum_batch_frames", 4}});
  ScoreStream stream = server.client().score_stream(options_of());
  stream.send_batch(Side::truth, frames(0, 10));
  stream.finish(kWait);
  EXPECT_EQ(server.batch_sizes(), (std::vector<int>{4, 4, 2}));
  EXPECT_EQ(stream.limits().at("maximum_batch_frames"), 4);
}

TEST(ScoreStream, GivesLiveReportsInOrderToTheCallbackAndToAReader) {
  FakeScoring server(Script::answer_each);
  ScoreOptions options = options_of(1);
  std::vector<std::int64_t> told;
  options.live = Live();
  options.live->every_frames = 1;
  options.live->on_report = [&told](const LiveReport& live) {
    told.push_back(live.coverage.paired_frames);
  };
  ScoreStream stream = server.client().score_stream(options);
  for (int number = 0; number < 3; ++number) {
    stream.send(boxes(number));
    const auto live = stream.next_live_report();
    ASSERT_TRUE(live);
    EXPECT_EQ(live->coverage.paired_frames, number + 1);
  }
  stream.finish(kWait);
  EXPECT_FALSE(stream.next_live_report());
  EXPECT_EQ(stream.latest()->coverage.paired_frames, 3);
  EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(ScoreStream, KeepsTheNewestReportsForASlowReader) {
  FakeScoring server(Script::answer_each);
  ScoreOptions options = options_of(1);
  options.live = Live();
  options.live->every_frames = 1;
  options.live->keep_reports = 2;
  ScoreStream stream = server.client().score_stream(options);
  stream.send_batch(Side::truth, frames(0, 5));
  stream.finish(kWait);
  EXPECT_EQ(stream.next_live_report()->coverage.paired_frames, 4);
  EXPECT_EQ(stream.next_live_report()->coverage.paired_frames, 5);
  EXPECT_FALSE(stream.next_live_report());
}

TEST(ScoreStream, EndsWhereACallbackThrows) {
  FakeScoring server(Script::answer_each);
  ScoreOptions options = options_of(1);
  options.live = Live();
  options.live->every_frames = 1;
  options.live->on_report = [](const LiveReport&) { throw std::runtime_error("on purpose"); };
  ScoreStream stream = server.client().score_stream(options);
  stream.send(boxes(0));
  try {
    stream.finish(kWait);
    FAIL();
  } catch (const CallbackError& error) {
    EXPECT_EQ(error.message(), "on_report threw: on purpose");
  }
  EXPECT_TRUE(server.await_finished());
}

TEST(ScoreStream, TellsWhatTheServerRefusesAtFinishAndEveryLaterCall) {
  FakeScoring server(Script::refuse_first_batch);
  ScoreStream stream = server.client().score_stream(options_of());
  stream.send(boxes(0));
  try {
    stream.finish(kWait);
    FAIL();
  } catch (const InvalidArgumentError& error) {
    EXPECT_EQ(error.violation_count(), 30u);
    EXPECT_EQ(error.violations().at(1).field, "truth.labels");
  }
  EXPECT_THROW(stream.send(boxes(1)), InvalidArgumentError);
  EXPECT_THROW(stream.next_live_report(), InvalidArgumentError);
}

TEST(ScoreStream, IsNotOpenedWhereTheServerRefusesIt) {
  FakeScoring server(Script::refuse_configuration);
  EXPECT_THROW(server.client().score_stream(options_of()), NotFoundError);
}

TEST(ScoreStream, IsNotOpenedWhereTheServerDoesNotAcceptItInTime) {
  FakeScoring server(Script::never_accept);
  const Client hasty = server.client(milliseconds(50));
  EXPECT_THROW(hasty.score_stream(options_of()), DeadlineError);
  EXPECT_TRUE(server.await_finished());
}

/// A socket that accepts connections and sends nothing.
class SilentMachine {
 public:
  SilentMachine() {
    bind(socket_, reinterpret_cast<const sockaddr*>(&address_), sizeof address_);
    listen(socket_, 8);
    socklen_t size = sizeof address_;
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address_), &size);
  }
  ~SilentMachine() { close(socket_); }

  std::string target() const { return "127.0.0.1:" + std::to_string(ntohs(address_.sin_port)); }

 private:
  int socket_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address_{AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {}};
};

TEST(ScoreStream, IsNotOpenedByAMachineThatSaysNothingAndNotWaitedForLonger) {
  const SilentMachine machine;
  ClientOptions options;
  options.timeout = milliseconds(50);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(Client(machine.target(), options).score_stream(options_of()), DeadlineError);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(ScoreStream, EndsWhenItsTimeIsOver) {
  FakeScoring server(Script::slow);
  ScoreOptions options = options_of();
  options.timeout = milliseconds(300);
  ScoreStream stream = server.client().score_stream(options);
  EXPECT_THROW(stream.finish(kWait), DeadlineError);
}

TEST(ScoreStream, TakesAnEndWithoutAFinalReportForAnError) {
  FakeScoring server(Script::end_at_once);
  ScoreStream stream = server.client().score_stream(options_of());
  EXPECT_THROW(stream.finish(kWait), InternalError);
}

TEST(ScoreStream, MayBeFinishedAgainWhereTheTimeWasTooShort) {
  FakeScoring server(Script::slow);
  ScoreStream stream = server.client().score_stream(options_of());
  stream.send(boxes(0));
  EXPECT_THROW(stream.finish(milliseconds(20)), DeadlineError);
  server.go_on();
  EXPECT_EQ(frames_of(stream.finish(kWait)), 1);
}

TEST(ScoreStream, SaysThatItWasCancelledAndTheServerLetsGoOfIt) {
  FakeScoring server(Script::accept);
  ScoreStream stream = server.client().score_stream(options_of());
  stream.cancel();
  EXPECT_THROW(stream.send(boxes(0)), CallCancelledError);
  EXPECT_THROW(stream.finish(kWait), CallCancelledError);
  EXPECT_TRUE(server.await_finished());
}

TEST(ScoreStream, IsCancelledWhenItIsDestroyed) {
  FakeScoring server(Script::accept);
  { const ScoreStream stream = server.client().score_stream(options_of()); }
  EXPECT_TRUE(server.await_finished());
}

/// Frames of 1 MB each, of which the connection takes a few and the queue one.
TEST(ScoreStream, RefusesFramesAtOnceOrAfterAWhileWhereTheQueueIsFull) {
  for (const Policy policy : {Policy::raise, Policy::block}) {
    FakeScoring server(Script::slow);
    ScoreOptions options = options_of(1, 1);
    options.batching.policy = policy;
    options.batching.block_timeout = milliseconds(200);
    ScoreStream stream = server.client().score_stream(options);
    const auto send_many = [&stream] {
      for (int number = 0; number < 1000; ++number) stream.send(boxes(number, 18'000));
    };
    EXPECT_THROW(send_many(), BackPressureError);
  }
}

TEST(ScoreStream, LetsABlockedSenderGoOnWhenThereIsRoom) {
  FakeScoring server(Script::accept);
  ScoreStream stream = server.client().score_stream(options_of(1, 1));
  for (int number = 0; number < 2000; ++number) stream.send(boxes(number));
  stream.finish(kWait);
  EXPECT_EQ(server.batch_sizes().size(), 2000u);
}

TEST(ScoreStream, MayBeUsedByManyThreads) {
  FakeScoring server(Script::accept);
  ScoreStream stream = server.client().score_stream(options_of(3, 5));
  std::vector<std::thread> senders;
  for (int sender = 0; sender < 4; ++sender) {
    senders.emplace_back([&stream, sender] {
      for (int number = 0; number < 100; ++number) stream.send(boxes(sender * 100 + number));
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(frames_of(stream.finish(kWait)), 400);
}

TEST(ScoreStream, ChecksItsOptionsBeforeAnythingIsSent) {
  FakeScoring server(Script::accept);
  const Client client = server.client();
  std::vector<ScoreOptions> wrong(4, options_of());
  wrong[0].evaluators.clear();
  wrong[1].batching.batch_frames = 0;
  wrong[2].live = Live();
  wrong[3].timeout = Duration(0);
  for (const ScoreOptions& options : wrong) {
    EXPECT_EQ(kind_of([&] { client.score_stream(options); }), "input");
  }
}

TEST(Client, ListsEvaluatorsPageByPageWithTheToken) {
  FakeScoring server(Script::accept);
  const Client client = server.client();
  const auto found = client.evaluators();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].name + found[1].name, "onetwo");
  EXPECT_EQ(server.authorizations, std::vector<std::string>(2, "Bearer secret"));
  EXPECT_EQ(client.evaluator("one").name, "one");
  EXPECT_THROW(client.evaluator("three"), NotFoundError);
  EXPECT_THROW(client.health(), UnsupportedError);
}

}  // namespace
}  // namespace vidscore::testing

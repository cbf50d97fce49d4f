// A simulated detector at 30 Hz that sends its boxes to a hosted benchmark as they come.
//
//     VIDSCORE_TOKEN=... live_stream localhost:50051 streets my-run
//
// Stop the server and start it again: the stream continues. Stop this program and start it again
// with the same name: it continues, too.

#include <vidscore/client.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include "table.h"

namespace {

constexpr auto kFrameInterval = std::chrono::nanoseconds(1'000'000'000 / 30);

/// The output of a detector: a car that moves to the right.
vidscore::Frame detect(std::uint64_t number) {
  const double x = 10.0 + static_cast<double>(number);
  auto car = vidscore::Object::box(x, 20, x + 40, 100);
  car.label = "Car";
  car.confidence = 0.9;
  vidscore::Frame frame;
  frame.sequence = "street";
  frame.number = static_cast<std::int64_t>(number);
  frame.objects.push_back(car);
  return frame;
}

void stream_live(const std::string& address, const std::string& benchmark,
                 const std::string& submission, std::uint64_t frames) {
  vidscore::ClientOptions connection;
  if (const char* token = std::getenv("VIDSCORE_TOKEN")) connection.token = token;
  vidscore::SubmitOptions options;
  options.benchmark = benchmark;
  options.submission = submission;
  options.replay = true;
  options.delivery.on_acknowledged = [](std::uint64_t count) {
    std::cout << count << " frames are durable" << std::endl;
  };
  auto stream = vidscore::Client(address, connection).submit(options);
  auto next = std::chrono::steady_clock::now();
  for (std::uint64_t number = 0; number < frames; ++number) {
    stream.send(detect(number));
    if (number < stream.next_offset()) continue;  // it is durable already
    next += kFrameInterval;
    std::this_thread::sleep_until(next);
  }
  stream.seal(frames);
  const vidscore::Submission ended = stream.wait();
  std::cout << "the submission is " << to_string(ended.state) << " (" << ended.state_reason
            << ")\n";
  for (const auto& score : stream.scores()) print_scores(score.report);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4 && count != 5) {
    std::cerr << "usage: live_stream ADDRESS BENCHMARK SUBMISSION [FRAMES]\n";
    return 2;
  }
  try {
    stream_live(words[1], words[2], words[3], count == 5 ? std::stoull(words[4]) : 300);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

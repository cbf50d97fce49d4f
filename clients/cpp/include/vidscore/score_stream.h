/// @file
/// The scoring stream.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vidscore/frames.h"
#include "vidscore/reports.h"
#include "vidscore/settings.h"
#include "vidscore/specification.h"

namespace vidscore {

class Client;

/// What is to be scored and how.
struct ScoreOptions {
  /// What judges; where there are any, they stand in the place of the specification's own.
  std::vector<Evaluator> evaluators;
  Specification specification;                  ///< What the data alone cannot say.
  Geometry truth_geometry = Geometry::box;      ///< Shape of the truth's objects.
  Geometry detection_geometry = Geometry::box;  ///< Shape of the detections.
  std::optional<Live> live;                     ///< When live reports are wanted; nullopt: never.
  Batching batching;                            ///< How frames are put together.
  std::optional<Duration> timeout;              ///< Time that the whole stream may take.
};

/// A stream that is being scored; made by Client::score_stream.
///
/// Every method may be called from any thread; frames of one thread are sent in its order. Two
/// threads serve a stream: one sends, the other reads and calls Live::on_report. Both have ended
/// when the destructor returns, which cancels a stream that is not finished. Moving a stream, or
/// destroying it, is for one thread while no other uses it.
class ScoreStream {
 public:
  ScoreStream(ScoreStream&&) noexcept;             ///< Streams can be moved.
  ScoreStream& operator=(ScoreStream&&) noexcept;  ///< Streams can be moved.
  ~ScoreStream();                                  ///< Cancels the stream where it goes on.

  /// Version of the server.
  std::string server_version() const;

  /// Limits that hold for this stream, by the names of the server's settings.
  std::map<std::string, std::int64_t> limits() const;

  /// The newest live report; nullopt before the first.
  std::optional<LiveReport> latest() const;

  /// Send one whole frame of the truth; returns as soon as it is queued.
  /// @throws InputError if an object has another shape than the stream was opened for.
  /// @throws BackPressureError if the queue is full, as the policy says.
  /// @throws Error what the stream failed with.
  void send_truth(Frame frame);

  /// Send one whole frame of detections, like send_truth.
  void send(Frame frame);

  /// Send many whole frames; they do not wait for others. Errors are those of send_truth.
  void send_batch(Side side, std::vector<Frame> frames);

  /// The next live report, each for one reader; nullopt when the stream has ended.
  /// @throws Error what the stream failed with, once all reports are read.
  std::optional<LiveReport> next_live_report();

  /// Send what is queued, say that nothing more comes, and wait for the final reports, one for each
  /// evaluator in the order in which they were asked for.
  /// @param timeout Time to wait; nullopt for no limit but the stream's own.
  /// @throws DeadlineError if they have not come in time; `finish` may be called again.
  /// @throws Error what the stream failed with.
  std::vector<Report> finish(std::optional<Duration> timeout = std::nullopt);

  /// End the stream at once, without a report; does nothing where it has ended.
  void cancel();

 private:
  friend class Client;
  class Exchange;
  explicit ScoreStream(std::unique_ptr<Exchange> exchange);

  std::unique_ptr<Exchange> exchange_;
};

}  // namespace vidscore

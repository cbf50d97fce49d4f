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

/// What to score, and how.
struct ScoreOptions {
  /// The evaluators that judge, instead of the specification's own; empty: the specification's own.
  std::vector<Evaluator> evaluators;
  Specification specification;                  ///< Facts that the data cannot give.
  Geometry truth_geometry = Geometry::box;      ///< Shape of the truth's objects.
  Geometry detection_geometry = Geometry::box;  ///< Shape of the detections.
  std::optional<Live> live;                     ///< When live reports are sent; nullopt: never.
  Batching batching;                            ///< How frames are batched.
  std::optional<Duration> timeout;              ///< Timeout of the whole stream.
};

/// A stream that is being scored; made by Client::score_stream.
///
/// Every method may be called from any thread; frames of one thread are sent in its order. Two
/// threads serve a stream: one sends, the other reads and calls Live::on_report. Both have ended
/// when the destructor returns, which cancels a stream that is not finished. A stream may be moved
/// or destroyed only while no other thread uses it.
class ScoreStream {
 public:
  ScoreStream(ScoreStream&&) noexcept;             ///< Streams can be moved.
  ScoreStream& operator=(ScoreStream&&) noexcept;  ///< Streams can be moved.
  ~ScoreStream();                                  ///< Cancels the stream if it has not ended.

  /// Version of the server.
  std::string server_version() const;

  /// Limits of this stream, by the names of the server's settings.
  std::map<std::string, std::int64_t> limits() const;

  /// The newest live report; nullopt before the first one.
  std::optional<LiveReport> latest() const;

  /// Send one whole frame of the truth; returns as soon as it is queued.
  /// @throws InputError if the shape of an object differs from that of the stream.
  /// @throws BackPressureError if the queue is full, as the policy says.
  /// @throws Error the error with which the stream failed.
  void send_truth(Frame frame);

  /// Send one whole frame of detections, like send_truth.
  void send(Frame frame);

  /// Send many whole frames; they do not wait for others. Errors are those of send_truth.
  void send_batch(Side side, std::vector<Frame> frames);

  /// The next live report, each for one reader; nullopt if the stream has ended.
  /// @throws Error the error with which the stream failed, once all reports are read.
  std::optional<LiveReport> next_live_report();

  /// Send the queued frames, end the input, and wait for the final reports, one for each evaluator
  /// in the requested order.
  /// @param timeout Time to wait; nullopt for only the stream's own limit.
  /// @throws DeadlineError if they do not arrive in time; `finish` may be called again.
  /// @throws Error the error with which the stream failed.
  std::vector<Report> finish(std::optional<Duration> timeout = std::nullopt);

  /// End the stream at once, without a report; does nothing if it has ended.
  void cancel();

 private:
  friend class Client;
  class Exchange;
  explicit ScoreStream(std::unique_ptr<Exchange> exchange);

  std::unique_ptr<Exchange> exchange_;
};

}  // namespace vidscore

/// @file
/// The stream of detections into a submission.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vidscore/frames.h"
#include "vidscore/hosting.h"
#include "vidscore/settings.h"
#include "vidscore/submissions.h"

namespace vidscore {

/// @cond
namespace detail {
class Sender;
}
/// @endcond

/// A submission that detections are to be sent to.
struct SubmitOptions {
  std::string benchmark;  ///< The benchmark.
  /// Name of the submission, which is created where there is none; nullopt: a new one.
  std::optional<std::string> submission;
  std::string stream = "default";  ///< Name of the append stream; each has one writer at a time.
  std::string title;               ///< Title for people, of a submission that is created.
  /// Whether frames will be sent from the first one again, as by a program that was started again:
  /// those that are durable already are left out.
  bool replay = false;
  Batching batching;  ///< How frames are put together.
  Delivery delivery;  ///< How they are held until they are acknowledged.
};

/// A stream of detections into a submission; made by Client::submit.
///
/// Frames are sent again by themselves after any break of the connection, from the first one that
/// the server does not have. Every method may be called from any thread; frames of one thread are
/// sent in its order. Two threads serve a stream: one connects, reads acknowledgements and calls
/// Delivery::on_acknowledged, the other sends while there is a connection. Both have ended when the
/// destructor returns. The destructor closes the stream: it waits until every frame is durable, at
/// most Delivery::close_timeout, and says on standard error how many it gives up; while an
/// exception unwinds the stack, it aborts. The submission stays as it is until it is sealed. Moving a
/// stream, or destroying it, is for one thread while no other uses it.
class SubmissionStream {
 public:
  SubmissionStream(SubmissionStream&&) noexcept;             ///< Streams can be moved.
  SubmissionStream& operator=(SubmissionStream&&) noexcept;  ///< Streams can be moved.
  ~SubmissionStream();                                       ///< Closes the stream.

  /// Full name of the submission.
  const std::string& submission() const noexcept;

  /// Frames of the stream that were durable when it was opened; where to go on from.
  std::uint64_t next_offset() const noexcept;

  /// Frames of the stream that are known to be durable.
  std::uint64_t acknowledged_frames() const;

  /// Frames that were taken and are not known to be durable; after the end, given up.
  std::size_t undelivered_frames() const;

  /// How often the stream has gone on after a break.
  std::uint64_t reconnections() const;

  /// Send one whole frame of detections; returns as soon as it is queued. Each frame is sent once,
  /// over all streams of the submission.
  /// @throws InputError if an object has another shape than the benchmark's detections.
  /// @throws BackPressureError if the queue is full, as the policy says.
  /// @throws SupersededError if a younger writer has opened the stream.
  /// @throws Error what the stream failed with.
  void send(Frame frame);

  /// Send many whole frames; they do not wait for others. Errors are those of send.
  void send_batch(std::vector<Frame> frames);

  /// Wait until every frame that was sent is durable, and tell how many the stream has.
  /// @param timeout Time to wait; nullopt for no limit but that of Delivery::retry.
  /// @throws DeadlineError if they are not in time; the stream goes on.
  /// @throws Error what the stream failed with.
  std::uint64_t flush(std::optional<Duration> timeout = std::nullopt);

  /// Deliver what was taken and end the stream; the submission stays open. It may be called again;
  /// after abort it does nothing.
  /// @param timeout Time to wait; nullopt for Delivery::close_timeout.
  /// @throws DeadlineError if frames are not durable in time; they are given up, and the text and
  ///   undelivered_frames say how many.
  /// @throws Error what the stream failed with, if it had frames that are not durable.
  void close(std::optional<Duration> timeout = std::nullopt);

  /// End the stream at once; frames that are not durable are given up.
  void abort();

  /// Wait until every frame is durable, end the stream and seal the submission.
  /// @param expected_frame_count Frames that must be durable in all streams together; nullopt for
  ///   whatever is there.
  /// @param timeout Time to wait for the frames; nullopt for no limit.
  /// @throws DeadlineError if they are not durable in time; the stream goes on.
  /// @throws ConflictError if another number of frames is durable, with reason
  ///   `FRAME_COUNT_DIFFERS`; nothing is sealed.
  Submission seal(std::optional<std::uint64_t> expected_frame_count = std::nullopt,
                  std::optional<Duration> timeout = std::nullopt);

  /// Wait until the submission has ended; see Submissions::wait.
  Submission wait(std::optional<Duration> timeout = std::nullopt);

  /// What may be seen of the submission's scores, newest first.
  std::vector<SubmissionScore> scores();

 private:
  friend class Client;
  SubmissionStream(std::shared_ptr<const detail::Connection> connection, SubmitOptions options);

  std::unique_ptr<detail::Sender> sender_;
  Submissions submissions_;
  Retry retry_;
};

}  // namespace vidscore

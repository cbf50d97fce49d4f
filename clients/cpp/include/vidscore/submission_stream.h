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

/// A submission to which detections are sent.
struct SubmitOptions {
  std::string benchmark;  ///< The benchmark.
  /// Name of the submission, which is created if it does not exist; nullopt: a new one.
  std::optional<std::string> submission;
  std::string stream = "default";  ///< Name of the append stream; each has one writer at a time.
  std::string title;               ///< Title of a new submission, for people.
  /// Whether the caller sends from the first frame again, as a restarted program does: durable
  /// frames are left out.
  bool replay = false;
  Batching batching;  ///< How frames are batched.
  Delivery delivery;  ///< How they are held until they are acknowledged.
};

/// A stream of detections into a submission; made by Client::submit.
///
/// Frames are sent again automatically after any break of the connection, from the first one that
/// the server lacks. Every method may be called from any thread; frames of one thread are sent in
/// its order. Two threads serve a stream: one connects, reads acknowledgements and calls
/// Delivery::on_acknowledged, the other sends while there is a connection. Both have ended when the
/// destructor returns. The destructor closes the stream: it waits until every frame is durable, at
/// most Delivery::close_timeout, and writes the number of dropped frames to standard error; while
/// an exception unwinds the stack, it aborts. The submission stays as it is until it is sealed. A
/// stream may be moved or destroyed only while no other thread uses it.
class SubmissionStream {
 public:
  SubmissionStream(SubmissionStream&&) noexcept;             ///< Streams can be moved.
  SubmissionStream& operator=(SubmissionStream&&) noexcept;  ///< Streams can be moved.
  ~SubmissionStream();                                       ///< Closes the stream.

  /// Full name of the submission.
  const std::string& submission() const noexcept;

  /// Number of frames of the stream that were durable when it was opened, the offset from which to
  /// continue.
  std::uint64_t next_offset() const noexcept;

  /// Number of frames of the stream that are known to be durable.
  std::uint64_t acknowledged_frames() const;

  /// Number of accepted frames that are not known to be durable; after the end, of dropped frames.
  std::size_t undelivered_frames() const;

  /// Number of times that the stream continued after a break.
  std::uint64_t reconnections() const;

  /// Send one whole frame of detections; returns as soon as it is queued. Each frame is sent once,
  /// over all streams of the submission.
  /// @throws InputError if the shape of an object differs from that of the benchmark's detections.
  /// @throws BackPressureError if the queue is full, as the policy says.
  /// @throws SupersededError if a newer writer has opened the stream.
  /// @throws Error the error with which the stream failed.
  void send(Frame frame);

  /// Send many whole frames; they do not wait for others. Errors are those of send.
  void send_batch(std::vector<Frame> frames);

  /// Wait until all sent frames are durable; returns the number of durable frames of the stream.
  /// @param timeout Time to wait; nullopt for only the limit of Delivery::retry.
  /// @throws DeadlineError if they are not durable in time; the stream continues.
  /// @throws Error the error with which the stream failed.
  std::uint64_t flush(std::optional<Duration> timeout = std::nullopt);

  /// Deliver the accepted frames and end the stream; the submission stays open. It may be called
  /// again; after abort it does nothing.
  /// @param timeout Time to wait; nullopt for Delivery::close_timeout.
  /// @throws DeadlineError if frames are not durable in time; they are dropped, and the text and
  ///   undelivered_frames give their number.
  /// @throws Error the error of the stream, if it had frames that are not durable.
  void close(std::optional<Duration> timeout = std::nullopt);

  /// End the stream at once and drop the frames that are not durable.
  void abort();

  /// Wait until every frame is durable, end the stream and seal the submission.
  /// @param expected_frame_count Number of frames that must be durable in all streams together;
  ///   nullopt for any number.
  /// @param timeout Time to wait for the frames; nullopt for no limit.
  /// @throws DeadlineError if they are not durable in time; the stream continues.
  /// @throws ConflictError if another number of frames is durable, with reason
  ///   `FRAME_COUNT_DIFFERS`; nothing is sealed.
  Submission seal(std::optional<std::uint64_t> expected_frame_count = std::nullopt,
                  std::optional<Duration> timeout = std::nullopt);

  /// Wait until the submission has ended; see Submissions::wait.
  Submission wait(std::optional<Duration> timeout = std::nullopt);

  /// The scores of the submission that the caller may see, newest first.
  std::vector<SubmissionScore> scores();

 private:
  friend class Client;
  SubmissionStream(std::shared_ptr<const detail::Connection> connection, SubmitOptions options);

  std::unique_ptr<detail::Sender> sender_;
  Submissions submissions_;
  Retry retry_;
};

}  // namespace vidscore

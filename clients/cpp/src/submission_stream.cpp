#include "vidscore/submission_stream.h"

#include <algorithm>
#include <utility>

#include "checks.h"
#include "connection.h"
#include "decoding.h"
#include "failing.h"
#include "names.h"
#include "sender.h"

namespace vidscore {
namespace {

Geometry detection_geometry(const detail::Connection& connection, const std::string& benchmark) {
  detail::wire::GetBenchmarkRequest request;
  request.set_name(benchmark);
  const auto answer =
      connection.answer<detail::wire::GetBenchmarkResponse>([&](auto* context, auto* response) {
        return connection.benchmarks()->GetBenchmark(context, request, response);
      });
  const Benchmark found = detail::decode_benchmark(answer.benchmark());
  if (!found.detection_geometry) {
    detail::raise(detail::local_error(
        ErrorKind::conflict,
        found.name + " takes no detections yet: their geometry follows from the truth, "
                     "which has not been uploaded",
        "BENCHMARK_NOT_OPEN"));
  }
  return *found.detection_geometry;
}

detail::wire::OpenStreamResponse open_stream(const detail::Connection& connection,
                                             const std::string& submission,
                                             const std::string& stream) {
  detail::wire::OpenStreamRequest request;
  request.set_submission(submission);
  request.set_stream(stream);
  return connection.answer<detail::wire::OpenStreamResponse>([&](auto* context, auto* response) {
    return connection.submissions()->OpenStream(context, request, response);
  });
}

/// The smaller of a size of messages and the server's limit of it, if it states one.
std::size_t limited(std::size_t size, const detail::wire::OpenStreamResponse& answer,
                    const char* name, std::int64_t parts) {
  const auto found = answer.limits().find(name);
  if (found == answer.limits().end() || found->second / parts < 1) return size;
  return std::min(size, static_cast<std::size_t>(found->second / parts));
}

}  // namespace

SubmissionStream::SubmissionStream(std::shared_ptr<const detail::Connection> connection,
                                   SubmitOptions options)
    : submissions_(connection), retry_(options.delivery.retry) {
  detail::check(options.batching);
  detail::check(options.delivery);
  detail::check_text("benchmark", options.benchmark);
  detail::check_text("submission", options.submission.value_or(""));
  detail::check_text("stream", options.stream);
  detail::check_text("title", options.title);
  const std::string benchmark = detail::benchmark_name(options.benchmark);
  detail::OpenedStream opened;
  opened.geometry = detection_geometry(*connection, benchmark);
  opened.submission = submissions_.find_or_create(benchmark, options.submission, options.title);
  const auto answer = open_stream(*connection, opened.submission.name, options.stream);
  opened.stream = detail::decode_stream(answer.stream());
  Batching& batching = options.batching;
  batching.batch_frames = limited(batching.batch_frames, answer, "maximum_batch_frames", 1);
  // The other half is for the tables of names, which the outbox does not count.
  batching.batch_bytes = limited(batching.batch_bytes, answer, "maximum_message_bytes", 2);
  sender_ = std::make_unique<detail::Sender>(std::move(connection), std::move(opened),
                                             std::move(options));
}

SubmissionStream::SubmissionStream(SubmissionStream&&) noexcept = default;
SubmissionStream& SubmissionStream::operator=(SubmissionStream&&) noexcept = default;
SubmissionStream::~SubmissionStream() = default;

const std::string& SubmissionStream::submission() const noexcept {
  return sender_->opened().submission.name;
}

std::uint64_t SubmissionStream::next_offset() const noexcept {
  return sender_->opened().stream.next_offset;
}

std::uint64_t SubmissionStream::acknowledged_frames() const { return sender_->acknowledged(); }

std::size_t SubmissionStream::undelivered_frames() const { return sender_->undelivered(); }

std::uint64_t SubmissionStream::reconnections() const { return sender_->reconnections(); }

void SubmissionStream::send(Frame frame) {
  detail::check(frame, sender_->opened().geometry);
  detail::Item item;
  item.single = true;
  item.frames.push_back(std::move(frame));
  sender_->put(std::move(item));
}

void SubmissionStream::send_batch(std::vector<Frame> frames) {
  for (const Frame& frame : frames) detail::check(frame, sender_->opened().geometry);
  if (!frames.empty()) sender_->put({std::move(frames), false});
}

std::uint64_t SubmissionStream::flush(std::optional<Duration> timeout) {
  return sender_->flush(timeout);
}

void SubmissionStream::close(std::optional<Duration> timeout) { sender_->close(timeout); }

void SubmissionStream::abort() { sender_->abort(); }

Submission SubmissionStream::seal(std::optional<std::uint64_t> expected_frame_count,
                                  std::optional<Duration> timeout) {
  flush(timeout);
  close();
  return submissions_.seal(submission(), expected_frame_count, retry_);
}

Submission SubmissionStream::wait(std::optional<Duration> timeout) {
  return submissions_.wait(submission(), timeout, retry_);
}

std::vector<SubmissionScore> SubmissionStream::scores() {
  return submissions_.scores(submission());
}

}  // namespace vidscore

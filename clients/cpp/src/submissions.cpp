#include "vidscore/submissions.h"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "checks.h"
#include "connection.h"
#include "decoding.h"
#include "failing.h"
#include "names.h"
#include "watching.h"

namespace vidscore {
namespace {

using detail::Clock;
using detail::Instant;

constexpr char kNameTaken[] = "NAME_TAKEN";

/// A random UUID (RFC 9562, version 4).
std::string new_request_id() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::random_device device;
  std::string id = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& sign : id) {
    const unsigned bits = device();
    if (sign == 'x') sign = kDigits[bits & 15u];
    if (sign == 'y') sign = kDigits[8 + (bits & 3u)];
  }
  return id;
}

[[noreturn]] void raise_not_ended(Duration timeout) {
  detail::raise(detail::coded_error(
      ErrorKind::deadline, "DEADLINE_EXCEEDED",
      "the submission has not ended within " + detail::show(timeout) + "; it continues"));
}

}  // namespace

Submissions::Submissions(std::shared_ptr<const detail::Connection> connection)
    : connection_(std::move(connection)) {}

Submission Submissions::create(const std::string& benchmark, const std::string& submission,
                               const std::string& title) const {
  detail::check_text("submission", submission);
  detail::check_text("title", title);
  detail::wire::CreateSubmissionRequest request;
  request.set_benchmark(detail::benchmark_name(benchmark));
  request.set_submission_id(submission);
  request.set_title(title);
  request.set_request_id(new_request_id());
  const auto answer = connection_->answer<detail::wire::CreateSubmissionResponse>(
      [&](auto* context, auto* response) {
        return connection_->submissions()->CreateSubmission(context, request, response);
      });
  return detail::decode_submission(answer.submission());
}

Submission Submissions::get(const std::string& submission) const {
  detail::wire::GetSubmissionRequest request;
  request.set_name(detail::submission_name(submission));
  const auto answer =
      connection_->answer<detail::wire::GetSubmissionResponse>([&](auto* context, auto* response) {
        return connection_->submissions()->GetSubmission(context, request, response);
      });
  return detail::decode_submission(answer.submission());
}

std::vector<Submission> Submissions::list(const std::string& benchmark) const {
  std::vector<Submission> found;
  detail::wire::ListSubmissionsRequest request;
  request.set_benchmark(detail::benchmark_name(benchmark));
  do {
    const auto page = connection_->answer<detail::wire::ListSubmissionsResponse>(
        [&](auto* context, auto* response) {
          return connection_->submissions()->ListSubmissions(context, request, response);
        });
    for (const auto& submission : page.submissions()) {
      found.push_back(detail::decode_submission(submission));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return found;
}

Submission Submissions::seal(const std::string& submission,
                             std::optional<std::uint64_t> expected_frame_count,
                             const Retry& retry) const {
  detail::check(retry);
  detail::wire::SealSubmissionRequest request;
  request.set_name(detail::submission_name(submission));
  if (expected_frame_count) {
    request.set_expected_frame_count(static_cast<std::int64_t>(*expected_frame_count));
  }
  detail::Retrying tries(retry);
  while (true) {
    try {
      const auto answer = connection_->answer<detail::wire::SealSubmissionResponse>(
          [&](auto* context, auto* response) {
            return connection_->submissions()->SealSubmission(context, request, response);
          });
      return detail::decode_submission(answer.submission());
    } catch (const Error& error) {
      std::this_thread::sleep_for(tries.delay(error, Clock::now()));
    }
  }
}

Submission Submissions::cancel(const std::string& submission) const {
  detail::wire::CancelSubmissionRequest request;
  request.set_name(detail::submission_name(submission));
  const auto answer = connection_->answer<detail::wire::CancelSubmissionResponse>(
      [&](auto* context, auto* response) {
        return connection_->submissions()->CancelSubmission(context, request, response);
      });
  return detail::decode_submission(answer.submission());
}

void Submissions::watch(const std::string& submission, const OnUpdate& on_update,
                        std::optional<Duration> timeout, const Retry& retry) const {
  detail::check(retry);
  detail::Watched watched(detail::submission_name(submission), retry);
  const std::optional<Instant> limit = detail::limit_of(timeout);
  while (!watched.ended()) {
    const Duration left = limit ? *limit - Clock::now() : detail::kAges;
    grpc::ClientContext context;
    connection_->prepare(&context, std::min(detail::kWatchCall, std::max(left, Duration(0))));
    const auto call = connection_->submissions()->WatchSubmission(&context, watched.request());
    detail::wire::WatchSubmissionResponse response;
    while (call->Read(&response)) {
      const SubmissionUpdate update = detail::decode_update(response);
      watched.take(update);
      if (!on_update(update)) return;  // the call ends with its context
    }
    const grpc::Status status = call->Finish();
    if (watched.ended()) return;
    if (limit && Clock::now() >= *limit) raise_not_ended(*timeout);
    const Error failure = status.ok() ? detail::ended_early() : detail::error_of(status);
    const Instant again = detail::later(Clock::now(), watched.delay(failure, Clock::now()));
    std::this_thread::sleep_until(limit ? std::min(again, *limit) : again);
  }
}

Submission Submissions::wait(const std::string& submission, std::optional<Duration> timeout,
                             const Retry& retry) const {
  Submission last;
  const auto keep = [&last](const SubmissionUpdate& update) {
    last = update.submission;
    return true;
  };
  watch(submission, keep, timeout, retry);
  return last;
}

std::vector<SubmissionScore> Submissions::scores(const std::string& submission) const {
  std::vector<SubmissionScore> found;
  detail::wire::ListScoresRequest request;
  request.set_submission(detail::submission_name(submission));
  do {
    const auto page =
        connection_->answer<detail::wire::ListScoresResponse>([&](auto* context, auto* response) {
          return connection_->submissions()->ListScores(context, request, response);
        });
    for (const auto& score : page.scores()) found.push_back(detail::decode_score(score));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return found;
}

/// A submission by the last part of its name, new if there is none or no name is given.
Submission Submissions::find_or_create(const std::string& benchmark,
                                       const std::optional<std::string>& submission,
                                       const std::string& title) const {
  if (!submission) return create(benchmark, "", title);
  if (submission->empty() || submission->find('/') != submission->npos) {
    detail::refuse("submission", detail::quoted(*submission), "a name like {submission}");
  }
  const std::string name = benchmark + "/submissions/" + *submission;
  try {
    Submission found = get(name);
    // Nobody has seen the title of a draft, so an earlier one must not stay.
    const bool is_draft = found.state == SubmissionState::open;
    if (!is_draft || title.empty() || title == found.title) return found;
  } catch (const NotFoundError&) {
    // It is created below.
  }
  std::optional<Error> taken;
  try {
    return create(benchmark, *submission, title);
  } catch (const ConflictError& error) {
    if (error.reason() != kNameTaken) throw;
    taken.emplace(error);
  }
  try {
    return get(name);  // another process of the same submission may just have created it
  } catch (const NotFoundError&) {
    detail::raise(*taken);  // it belongs to another team
  }
}

}  // namespace vidscore

/// @file
/// The submissions of a client.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vidscore/hosting.h"
#include "vidscore/settings.h"

namespace vidscore {

class Client;

/// @cond
namespace detail {
class Connection;
}
/// @endcond

/// Called with a submission now and after each change; return false to stop.
using OnUpdate = std::function<bool(const SubmissionUpdate&)>;

/// Submissions; Client::submissions. One is named `{benchmark}/{submission}` or by its full name.
///
/// Every method may be called from any thread. They throw InputError for an invalid name, and the
/// Error of a failed call.
class Submissions {
 public:
  /// Open a submission of the caller's team.
  /// @param benchmark The benchmark.
  /// @param submission Last part of its name: 1 to 63 lower-case letters, digits and hyphens, a
  ///   letter first; empty: the server chooses.
  /// @param title Title for people.
  /// @throws ConflictError if the name is taken, or the benchmark accepts no submissions now.
  /// @throws QuotaExceededError if the team may have no more.
  Submission create(const std::string& benchmark, const std::string& submission = "",
                    const std::string& title = "") const;

  /// One submission.
  /// @throws NotFoundError if there is none of that name, or the caller may not see it.
  Submission get(const std::string& submission) const;

  /// The submissions that the caller may see, newest first.
  std::vector<Submission> list(const std::string& benchmark) const;

  /// End the appends of a submission, which is then scored. Sealing again changes nothing.
  /// @param submission The submission.
  /// @param expected_frame_count Number of frames that must be durable in all streams together;
  ///   nullopt for any number.
  /// @param retry What happens after a break of the connection.
  /// @throws ConflictError if another number of frames is durable, with reason
  ///   `FRAME_COUNT_DIFFERS`; nothing is sealed.
  Submission seal(const std::string& submission,
                  std::optional<std::uint64_t> expected_frame_count = std::nullopt,
                  const Retry& retry = {}) const;

  /// Cancel a submission.
  Submission cancel(const std::string& submission) const;

  /// Follow a submission until it has ended, or the callback wants no more. It reconnects
  /// automatically after a break. The callback is called on the calling thread.
  /// @param submission The submission.
  /// @param on_update Called with the submission now and after each change.
  /// @param timeout Time that it may take; nullopt for no limit.
  /// @param retry What happens after a break.
  /// @throws DeadlineError if it has not ended in time; it continues.
  void watch(const std::string& submission, const OnUpdate& on_update,
             std::optional<Duration> timeout = std::nullopt, const Retry& retry = {}) const;

  /// Wait until a submission has ended: it is scored, has failed, or was cancelled.
  /// @param submission The submission.
  /// @param timeout Time to wait; nullopt for no limit.
  /// @param retry What happens after a break of the connection.
  /// @throws DeadlineError if it has not ended in time; it continues.
  Submission wait(const std::string& submission, std::optional<Duration> timeout = std::nullopt,
                  const Retry& retry = {}) const;

  /// The scores of a submission that the caller may see, newest first.
  std::vector<SubmissionScore> scores(const std::string& submission) const;

 private:
  friend class Client;
  friend class SubmissionStream;
  explicit Submissions(std::shared_ptr<const detail::Connection> connection);
  Submission find_or_create(const std::string& benchmark,
                            const std::optional<std::string>& submission,
                            const std::string& title) const;

  std::shared_ptr<const detail::Connection> connection_;
};

}  // namespace vidscore

#include "watching.h"

#include <algorithm>
#include <utility>

namespace vidscore::detail {

Watched::Watched(std::string name, const Retry& retry)
    : name_(std::move(name)), pause_(retry.initial), retrying_(retry) {}

wire::WatchSubmissionRequest Watched::request() const {
  wire::WatchSubmissionRequest request;
  request.set_name(name_);
  request.set_from_revision(revision_);
  return request;
}

void Watched::take(const SubmissionUpdate& update) {
  retrying_.progress();
  revision_ = std::max(revision_, update.submission.revision);
  ended_ = has_ended(update.submission.state);
}

Duration Watched::delay(const Error& error, Instant now) {
  if (error.code() == "DEADLINE_EXCEEDED") {
    retrying_.progress();  // nothing has happened for a while, and nothing failed
    return pause_;
  }
  return retrying_.delay(error, now);
}

}  // namespace vidscore::detail

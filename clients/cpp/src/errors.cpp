#include "vidscore/errors.h"

#include <array>
#include <cstdio>
#include <utility>

#include "clock.h"
#include "failing.h"

namespace vidscore {
namespace {

constexpr std::array<const char*, 18> kKindNames = {
    "invalid_argument", "not_found",      "limit_exceeded", "quota_exceeded", "unavailable",
    "deadline",         "call_cancelled", "access_denied",  "conflict",       "superseded",
    "submission_ended", "version",        "unsupported",    "internal",       "input",
    "back_pressure",    "closed",         "callback"};

std::string text_of(const ErrorFacts& facts) {
  std::string text = facts.message;
  // If there is one violation, the server's message states it; otherwise it states the first.
  if (facts.violation_count > 1) {
    for (const FieldViolation& violation : facts.violations) {
      text += "\n  ";
      if (!violation.field.empty()) text += violation.field + ": ";
      text += violation.description;
    }
  }
  if (facts.violation_count > facts.violations.size()) {
    const std::size_t more = facts.violation_count - facts.violations.size();
    text += "\n  ... and " + std::to_string(more) + " more";
  }
  return text;
}

}  // namespace

const char* to_string(ErrorKind kind) noexcept {
  return kKindNames[static_cast<std::size_t>(kind)];
}

Error::Error(ErrorFacts facts)
    : std::runtime_error(text_of(facts)),
      facts_(std::make_shared<const ErrorFacts>(std::move(facts))) {}

const std::string& Error::reason() const noexcept {
  return facts_->reason.empty() ? facts_->code : facts_->reason;
}

namespace detail {
namespace {

template <typename Exception>
[[noreturn]] void throw_as(const Error& error) {
  throw Exception(ErrorFacts{error.kind(), error.message(), error.code(), error.reason(),
                             error.violations(), error.violation_count(), error.metadata(),
                             error.retry_delay()});
}

}  // namespace

void raise(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid_argument:
      throw_as<InvalidArgumentError>(error);
    case ErrorKind::not_found:
      throw_as<NotFoundError>(error);
    case ErrorKind::limit_exceeded:
      throw_as<LimitExceededError>(error);
    case ErrorKind::quota_exceeded:
      throw_as<QuotaExceededError>(error);
    case ErrorKind::unavailable:
      throw_as<UnavailableError>(error);
    case ErrorKind::deadline:
      throw_as<DeadlineError>(error);
    case ErrorKind::call_cancelled:
      throw_as<CallCancelledError>(error);
    case ErrorKind::access_denied:
      throw_as<AccessDeniedError>(error);
    case ErrorKind::conflict:
      throw_as<ConflictError>(error);
    case ErrorKind::superseded:
      throw_as<SupersededError>(error);
    case ErrorKind::submission_ended:
      throw_as<SubmissionEndedError>(error);
    case ErrorKind::version:
      throw_as<VersionError>(error);
    case ErrorKind::unsupported:
      throw_as<UnsupportedError>(error);
    case ErrorKind::internal:
      throw_as<InternalError>(error);
    case ErrorKind::input:
      throw_as<InputError>(error);
    case ErrorKind::back_pressure:
      throw_as<BackPressureError>(error);
    case ErrorKind::closed:
      throw_as<ClosedError>(error);
    case ErrorKind::callback:
      throw_as<CallbackError>(error);
  }
  throw error;
}

Error local_error(ErrorKind kind, std::string message, std::string reason) {
  return coded_error(kind, "", std::move(message), std::move(reason));
}

Error coded_error(ErrorKind kind, std::string code, std::string message, std::string reason) {
  ErrorFacts facts;
  facts.kind = kind;
  facts.code = std::move(code);
  facts.message = std::move(message);
  facts.reason = std::move(reason);
  return Error(std::move(facts));
}

void refuse(const std::string& argument, const std::string& found, const std::string& expected) {
  raise(local_error(ErrorKind::input, argument + ": found " + found + ", expected " + expected,
                    "INVALID_INPUT"));
}

std::string counted(std::uint64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string quoted(const std::string& text) { return "'" + text.substr(0, 80) + "'"; }

std::string show(Duration time) {
  std::array<char, 32> text{};
  const double seconds = std::chrono::duration<double>(time).count();
  std::snprintf(text.data(), text.size(), "%g s", seconds);
  return text.data();
}

}  // namespace detail
}  // namespace vidscore

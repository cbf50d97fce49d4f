/// @file
/// Exceptions, which carry all details from the server.

#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vidscore {

/// A length of time; `std::chrono` seconds and milliseconds convert to it.
using Duration = std::chrono::nanoseconds;

/// Kind of an error; each kind has its own exception.
enum class ErrorKind {
  invalid_argument,  ///< InvalidArgumentError
  not_found,         ///< NotFoundError
  limit_exceeded,    ///< LimitExceededError
  quota_exceeded,    ///< QuotaExceededError
  unavailable,       ///< UnavailableError
  deadline,          ///< DeadlineError
  call_cancelled,    ///< CallCancelledError
  access_denied,     ///< AccessDeniedError
  conflict,          ///< ConflictError
  superseded,        ///< SupersededError
  submission_ended,  ///< SubmissionEndedError
  version,           ///< VersionError
  unsupported,       ///< UnsupportedError
  internal,          ///< InternalError
  input,             ///< InputError
  back_pressure,     ///< BackPressureError
  closed,            ///< ClosedError
  callback,          ///< CallbackError
};

/// The name of a kind, such as `invalid_argument`, for logs.
const char* to_string(ErrorKind kind) noexcept;

/// One fault of a request.
struct FieldViolation {
  std::string field;        ///< Its place, as a path into the request.
  std::string description;  ///< What was found, and what was expected.
};

/// The facts of an error.
struct ErrorFacts {
  ErrorKind kind = ErrorKind::internal;         ///< Kind of the error.
  std::string message;                          ///< What went wrong, without the violations.
  std::string code;                             ///< Canonical gRPC code by name, or empty.
  std::string reason;                           ///< Stable upper-case word for machines.
  std::vector<FieldViolation> violations;       ///< The faults of the request.
  std::size_t violation_count = 0;              ///< The number of all faults.
  std::map<std::string, std::string> metadata;  ///< Further facts by name.
  std::optional<Duration> retry_delay;          ///< How long the server asks to wait.
};

/// Base of every error of this library; `what()` is for people.
class Error : public std::runtime_error {
 public:
  /// Stores the facts.
  explicit Error(ErrorFacts facts);

  /// Kind of the error.
  ErrorKind kind() const noexcept { return facts_->kind; }
  /// What went wrong, without the list of violations.
  const std::string& message() const noexcept { return facts_->message; }
  /// Canonical gRPC code by name, such as `INVALID_ARGUMENT`; empty for an error that was found on
  /// this side before anything was sent.
  const std::string& code() const noexcept { return facts_->code; }
  /// Stable upper-case word for machines; the code if the server gave none.
  const std::string& reason() const noexcept;
  /// The faults of the request; the server sends the first twenty.
  const std::vector<FieldViolation>& violations() const noexcept { return facts_->violations; }
  /// The number of all faults.
  std::size_t violation_count() const noexcept { return facts_->violation_count; }
  /// Further facts from the server, by name.
  const std::map<std::string, std::string>& metadata() const noexcept { return facts_->metadata; }
  /// Whether the same call may succeed later.
  bool is_retryable() const noexcept { return kind() == ErrorKind::unavailable; }
  /// The time after which a retry may succeed, if the server gives one.
  std::optional<Duration> retry_delay() const noexcept { return facts_->retry_delay; }

 private:
  std::shared_ptr<const ErrorFacts> facts_;  // copies of exceptions must not throw
};

/// The server refuses the request; `violations()` has the faults.
class InvalidArgumentError : public Error {
  using Error::Error;
};

/// There is no resource of that name.
class NotFoundError : public Error {
  using Error::Error;
};

/// A limit of the server is reached; the text names it.
class LimitExceededError : public Error {
  using Error::Error;
};

/// The team's quota of submissions to the benchmark is used up.
class QuotaExceededError : public LimitExceededError {
  using LimitExceededError::LimitExceededError;
};

/// The server cannot be reached, or is shutting down.
class UnavailableError : public Error {
  using Error::Error;
};

/// The caller's timeout was exceeded.
class DeadlineError : public Error {
  using Error::Error;
};

/// This client cancelled the call, or somebody cancelled work on the server.
class CallCancelledError : public Error {
  using Error::Error;
};

/// The token is missing, unknown, or not allowed to do this.
class AccessDeniedError : public Error {
  using Error::Error;
};

/// The request does not fit the server's state; `reason()` says why.
class ConflictError : public Error {
  using Error::Error;
};

/// A newer writer has opened the same stream of the submission; this one must stop.
class SupersededError : public ConflictError {
  using ConflictError::ConflictError;
};

/// The submission is sealed or cancelled and takes no more frames.
class SubmissionEndedError : public ConflictError {
  using ConflictError::ConflictError;
};

/// Client and server have incompatible versions; the text says which one to update.
class VersionError : public ConflictError {
  using ConflictError::ConflictError;
};

/// The server does not have this call: it hosts no benchmarks, or is older.
class UnsupportedError : public Error {
  using Error::Error;
};

/// The server failed, or this client cannot understand its answer.
class InternalError : public Error {
  using Error::Error;
};

/// An argument has the wrong shape; nothing was sent.
class InputError : public Error {
  using Error::Error;
};

/// The queue of a stream is full: the server takes frames more slowly than they come. The frames of
/// the call that throws this are not queued; the stream continues.
class BackPressureError : public Error {
  using Error::Error;
};

/// The stream is finished, or closed.
class ClosedError : public Error {
  using Error::Error;
};

/// A callback of the caller threw, or waited for itself. In the first case the stream has ended.
class CallbackError : public Error {
  using Error::Error;
};

}  // namespace vidscore

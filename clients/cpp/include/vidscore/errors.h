/// @file
/// What can go wrong, as exceptions that carry everything the server said.

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

/// What kind of thing went wrong; each kind has an exception of its own.
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

/// One thing that is wrong with a request.
struct FieldViolation {
  std::string field;        ///< Where it is, as a path into the request.
  std::string description;  ///< What was found there and what was expected.
};

/// What is known of an error.
struct ErrorFacts {
  ErrorKind kind = ErrorKind::internal;         ///< What kind of thing went wrong.
  std::string message;                          ///< What went wrong, without the violations.
  std::string code;                             ///< Canonical gRPC code by name, or empty.
  std::string reason;                           ///< Stable upper-case word for machines.
  std::vector<FieldViolation> violations;       ///< What is wrong with the request.
  std::size_t violation_count = 0;              ///< How many things are wrong in all.
  std::map<std::string, std::string> metadata;  ///< Further facts by name.
  std::optional<Duration> retry_delay;          ///< How long the server asks to wait.
};

/// Base of every error of this library; `what()` is for people.
class Error : public std::runtime_error {
 public:
  /// Keeps what is known.
  explicit Error(ErrorFacts facts);

  /// What kind of thing went wrong.
  ErrorKind kind() const noexcept { return facts_->kind; }
  /// What went wrong, without the list of violations that `what()` has.
  const std::string& message() const noexcept { return facts_->message; }
  /// Canonical gRPC code by name, such as `INVALID_ARGUMENT`; empty for an error that was found on
  /// this side before anything was sent.
  const std::string& code() const noexcept { return facts_->code; }
  /// Stable upper-case word for machines; the code where the server gave none.
  const std::string& reason() const noexcept;
  /// What is wrong with the request; the server sends the first twenty.
  const std::vector<FieldViolation>& violations() const noexcept { return facts_->violations; }
  /// How many things are wrong in all.
  std::size_t violation_count() const noexcept { return facts_->violation_count; }
  /// Further facts that the server gave, by name.
  const std::map<std::string, std::string>& metadata() const noexcept { return facts_->metadata; }
  /// Whether the same call may well succeed if it is made again later.
  bool is_retryable() const noexcept { return kind() == ErrorKind::unavailable; }
  /// How long the server asks to wait before trying again, where it says so.
  std::optional<Duration> retry_delay() const noexcept { return facts_->retry_delay; }

 private:
  std::shared_ptr<const ErrorFacts> facts_;  // copies of exceptions must not throw
};

/// The server refuses what was sent; `violations()` says what and where.
class InvalidArgumentError : public Error {
  using Error::Error;
};

/// There is nothing of that name.
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

/// It took longer than the caller wanted to wait.
class DeadlineError : public Error {
  using Error::Error;
};

/// The call was cancelled by this side.
class CallCancelledError : public Error {
  using Error::Error;
};

/// The token is missing, unknown, or not allowed to do this.
class AccessDeniedError : public Error {
  using Error::Error;
};

/// The request does not fit the state that the server is in; `reason()` says how.
class ConflictError : public Error {
  using Error::Error;
};

/// A younger writer has opened the same stream of the submission; this one may not go on.
class SupersededError : public ConflictError {
  using ConflictError::ConflictError;
};

/// The submission is sealed or cancelled and takes no more frames.
class SubmissionEndedError : public ConflictError {
  using ConflictError::ConflictError;
};

/// Client and server are of versions that do not work together; the text says which to update.
class VersionError : public ConflictError {
  using ConflictError::ConflictError;
};

/// The server does not have this call: it may be older than this client.
class UnsupportedError : public Error {
  using Error::Error;
};

/// The server failed, or answered what this client cannot understand.
class InternalError : public Error {
  using Error::Error;
};

/// An argument has the wrong shape; nothing was sent.
class InputError : public Error {
  using Error::Error;
};

/// The queue of a stream is full: the server takes frames more slowly than they come. The frames of
/// the call that throws this are not queued; the stream goes on.
class BackPressureError : public Error {
  using Error::Error;
};

/// The stream is finished, or closed.
class ClosedError : public Error {
  using Error::Error;
};

/// A callback of the caller's threw, or waited for itself. In the first case the stream has ended.
class CallbackError : public Error {
  using Error::Error;
};

}  // namespace vidscore

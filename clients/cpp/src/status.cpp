#include "status.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>

// The details of a status are google.rpc.Status, ErrorInfo, BadRequest and RetryInfo, for which
// Debian has neither the files nor headers. A program may bring its own code for them, and protobuf
// ends a process in which a message is registered twice; so the few needed fields are read here by
// their numbers (googleapis, google/rpc/status.proto and error_details.proto).

namespace vidscore::detail {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr char kErrorDomain[] = "vidscore";
constexpr char kErrorInfoType[] = "/google.rpc.ErrorInfo";
constexpr char kBadRequestType[] = "/google.rpc.BadRequest";
constexpr char kRetryInfoType[] = "/google.rpc.RetryInfo";
/// Metadata key of the number of all violations.
constexpr char kViolationCount[] = "violations";

constexpr std::array<const char*, 17> kCodeNames = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

/// Calls `text` with each field of bytes, `number` with each varint, and skips the others; stops at
/// invalid bytes.
template <typename Text, typename Number>
void for_each_field(const std::string& message, Text text, Number number) {
  CodedInputStream input(reinterpret_cast<const std::uint8_t*>(message.data()),
                         static_cast<int>(message.size()));
  while (const std::uint32_t tag = input.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    std::uint32_t length = 0;
    std::uint64_t value = 0;
    std::string bytes;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        if (!input.ReadVarint32(&length)) return;
        if (!input.ReadString(&bytes, static_cast<int>(length))) return;
        text(field, bytes);
        break;
      case WireFormatLite::WIRETYPE_VARINT:
        if (!input.ReadVarint64(&value)) return;
        number(field, static_cast<std::int64_t>(value));
        break;
      default:
        if (!WireFormatLite::SkipField(&input, tag)) return;
    }
  }
}

template <typename Text>
void for_each_text(const std::string& message, Text text) {
  for_each_field(message, text, [](int, std::int64_t) {});
}

/// A message of two strings, the first and the second field.
std::pair<std::string, std::string> pair_of(const std::string& message) {
  std::pair<std::string, std::string> pair;
  for_each_text(message, [&pair](int field, const std::string& bytes) {
    if (field == 1) pair.first = bytes;
    if (field == 2) pair.second = bytes;
  });
  return pair;
}

/// google.rpc.ErrorInfo: reason = 1, domain = 2, metadata = 3.
void read_error_info(const std::string& message, ErrorFacts* facts) {
  std::string reason;
  std::string domain;
  std::map<std::string, std::string> metadata;
  for_each_text(message, [&](int field, const std::string& bytes) {
    if (field == 1) reason = bytes;
    if (field == 2) domain = bytes;
    if (field == 3) metadata.insert(pair_of(bytes));
  });
  if (domain != kErrorDomain) return;
  facts->reason = reason;
  facts->metadata = metadata;
}

/// google.rpc.BadRequest: field_violations = 1, of field = 1, description = 2.
void read_bad_request(const std::string& message, ErrorFacts* facts) {
  for_each_text(message, [facts](int field, const std::string& bytes) {
    if (field != 1) return;
    auto [where, what] = pair_of(bytes);
    facts->violations.push_back({std::move(where), std::move(what)});
  });
}

/// google.rpc.RetryInfo: retry_delay = 1, a google.protobuf.Duration of seconds = 1, nanos = 2.
void read_retry_info(const std::string& message, ErrorFacts* facts) {
  for_each_text(message, [facts](int field, const std::string& bytes) {
    if (field != 1) return;
    constexpr std::int64_t kMostSeconds = 1'000'000'000;
    Duration delay{};
    for_each_field(
        bytes, [](int, const std::string&) {},
        [&delay](int part, std::int64_t value) {
          if (value < 0 || value > kMostSeconds) return;
          if (part == 1) delay += std::chrono::seconds(value);
          if (part == 2) delay += std::chrono::nanoseconds(value);
        });
    facts->retry_delay = delay;
  });
}

/// google.rpc.Status: details = 3, each a google.protobuf.Any of type_url = 1, value = 2.
void read_details(const std::string& status, ErrorFacts* facts) {
  for_each_text(status, [facts](int field, const std::string& bytes) {
    if (field != 3) return;
    const auto [url, value] = pair_of(bytes);
    const std::string type = url.substr(std::min(url.rfind('/'), url.size()));
    if (type == kErrorInfoType) read_error_info(value, facts);
    if (type == kBadRequestType) read_bad_request(value, facts);
    if (type == kRetryInfoType) read_retry_info(value, facts);
  });
}

ErrorKind kind_of(grpc::StatusCode code, const std::string& reason) {
  if (reason == "EPOCH_STALE") return ErrorKind::superseded;
  if (reason == "QUOTA_EXCEEDED") return ErrorKind::quota_exceeded;
  if (reason == "SUBMISSION_ENDED") return ErrorKind::submission_ended;
  if (reason == "VERSION_UNSUPPORTED") return ErrorKind::version;
  switch (code) {
    case grpc::StatusCode::CANCELLED:
      return ErrorKind::call_cancelled;
    case grpc::StatusCode::INVALID_ARGUMENT:
      return ErrorKind::invalid_argument;
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return ErrorKind::deadline;
    case grpc::StatusCode::NOT_FOUND:
      return ErrorKind::not_found;
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return ErrorKind::access_denied;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ErrorKind::limit_exceeded;
    case grpc::StatusCode::ALREADY_EXISTS:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::OUT_OF_RANGE:
      return ErrorKind::conflict;
    case grpc::StatusCode::UNIMPLEMENTED:
      return ErrorKind::unsupported;
    case grpc::StatusCode::UNAVAILABLE:
      return ErrorKind::unavailable;
    default:
      return ErrorKind::internal;
  }
}

/// Number of violations that the server has found; 0 if it does not state it.
std::size_t count_of(const std::map<std::string, std::string>& metadata) {
  const auto found = metadata.find(kViolationCount);
  if (found == metadata.end() || found->second.size() > 9) return 0;
  const bool digits = found->second.find_first_not_of("0123456789") == std::string::npos;
  return digits && !found->second.empty() ? std::stoul(found->second) : 0;
}

/// Describes a message that the server's gRPC refused before the server read it, as the server
/// would.
void read_message_too_large(const std::string& text, ErrorFacts* facts) {
  std::uint64_t size = 0;
  std::uint64_t maximum = 0;
  constexpr char kSaid[] = "SERVER: Received message larger than max (%" SCNu64 " vs. %" SCNu64 ")";
  if (std::sscanf(text.c_str(), kSaid, &size, &maximum) != 2) return;
  facts->message = "a message of " + std::to_string(size) + " bytes; the server accepts at most " +
                   std::to_string(maximum) +
                   ": send less at once, or raise its limit maximum_message_bytes";
  facts->reason = "LIMIT_EXCEEDED";
  facts->metadata = {{"limit", "maximum_message_bytes"}, {"maximum", std::to_string(maximum)}};
}

}  // namespace

Error error_of(const grpc::Status& status) {
  ErrorFacts facts;
  read_details(status.error_details(), &facts);
  grpc::StatusCode said = status.error_code();
  // GRPC's server ends calls like this that arrive while it stops. A call that this client cancels
  // is over before its status arrives.
  if (said == grpc::StatusCode::CANCELLED && facts.reason.empty()) {
    said = grpc::StatusCode::UNAVAILABLE;
  }
  const auto code = static_cast<std::size_t>(said);
  facts.code = code < kCodeNames.size() ? kCodeNames[code] : "UNKNOWN";
  facts.message = status.error_message();
  if (said == grpc::StatusCode::RESOURCE_EXHAUSTED) read_message_too_large(facts.message, &facts);
  if (said == grpc::StatusCode::DEADLINE_EXCEEDED && facts.reason.empty()) {
    facts.message = "the call has exceeded its timeout";
  }
  if (facts.message.empty()) facts.message = "the call ended with " + facts.code;
  facts.kind = kind_of(said, facts.reason);
  facts.violation_count = std::max(facts.violations.size(), count_of(facts.metadata));
  return Error(std::move(facts));
}

}  // namespace vidscore::detail

// Details of a status as a server sends them, written field by field.

#pragma once

#include <grpcpp/support/status.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace vidscore::testing {

/// A field of bytes: its tag, the length in bytes, the bytes (all shorter than 2^14).
inline std::string field(int number, const std::string& bytes) {
  std::string text(1, static_cast<char>(number << 3 | 2));
  std::size_t length = bytes.size();
  if (length > 0x7f) text += static_cast<char>((length & 0x7f) | 0x80);
  text += static_cast<char>(length > 0x7f ? length >> 7 : length);
  return text + bytes;
}

inline std::string any(const std::string& type, const std::string& value) {
  return field(3, field(1, "type.googleapis.com/google.rpc." + type) + field(2, value));
}

inline std::string error_info(const std::string& reason,
                              const std::map<std::string, std::string>& metadata = {},
                              const std::string& domain = "vidscore") {
  std::string message = field(1, reason) + field(2, domain);
  for (const auto& [key, value] : metadata) message += field(3, field(1, key) + field(2, value));
  return any("ErrorInfo", message);
}

inline std::string bad_request(const std::vector<std::pair<std::string, std::string>>& faults) {
  std::string message;
  for (const auto& [where, what] : faults) message += field(1, field(1, where) + field(2, what));
  return any("BadRequest", message);
}

/// A status with a reason.
inline grpc::Status refusal(grpc::StatusCode code, const std::string& reason) {
  return {code, reason, error_info(reason)};
}

}  // namespace vidscore::testing

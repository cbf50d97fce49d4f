// From the messages of the wire to this library's types.

#pragma once

#include <optional>

#include "vidscore/evaluators.h"
#include "vidscore/hosting.h"
#include "vidscore/reports.h"
#include "wire.h"

namespace vidscore::detail {

Parameters decode_parameters(const google::protobuf::RepeatedPtrField<wire::Parameter>& messages);
Specification decode_specification(const wire::BenchmarkSpec& message);
Report decode_report(const wire::Report& message);
LiveReport decode_live_report(const wire::LiveReport& message);
EvaluatorDescription decode_evaluator(const wire::Evaluator& message);

/// A shape; nullopt for one that this client cannot send.
std::optional<Geometry> decode_geometry(int number);

/// A point in time; nullopt if it is absent.
std::optional<Time> decode_time(bool present, const google::protobuf::Timestamp& message);

Benchmark decode_benchmark(const wire::Benchmark& message);
StreamInfo decode_stream(const wire::StreamInfo& message);
Submission decode_submission(const wire::Submission& message);
SubmissionScore decode_score(const wire::SubmissionScore& message);
SubmissionUpdate decode_update(const wire::WatchSubmissionResponse& message);
LeaderboardRow decode_row(const wire::LeaderboardRow& message);

/// A number that the protocol never makes negative.
std::uint64_t natural(std::int64_t number);

/// Every message of a repeated field, decoded.
template <typename Messages, typename Decode>
auto decode_all(const Messages& messages, Decode decode) {
  std::vector<decltype(decode(*messages.begin()))> decoded;
  decoded.reserve(static_cast<std::size_t>(messages.size()));
  for (const auto& message : messages) decoded.push_back(decode(message));
  return decoded;
}

}  // namespace vidscore::detail

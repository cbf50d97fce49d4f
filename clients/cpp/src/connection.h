// The address of a server, how to call it, and how unary calls are made.

#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <optional>
#include <string>

#include "clock.h"
#include "failing.h"
#include "status.h"
#include "vidscore/client.h"
#include "vidscore/v1/benchmark_service.grpc.pb.h"
#include "vidscore/v1/evaluator_service.grpc.pb.h"
#include "vidscore/v1/scoring_service.grpc.pb.h"
#include "vidscore/v1/server_service.grpc.pb.h"
#include "vidscore/v1/submission_service.grpc.pb.h"
#include "wire.h"

namespace vidscore::detail {

/// A server, and everything that calls to it need.
class Connection {
 public:
  Connection(const std::string& target, const ClientOptions& options);

  /// Timeout of a call, and of opening a stream.
  Duration timeout() const { return timeout_; }

  /// Prepare a call, with or without a timeout.
  void prepare(grpc::ClientContext* context, const std::optional<Duration>& timeout) const;

  /// Make a unary call and return its answer. `call` takes the context and the message for the
  /// answer.
  template <typename Answer, typename Call>
  Answer answer(Call call) const {
    grpc::ClientContext context;
    return answer<Answer>(&context, call);
  }

  /// The same with a context of the caller, by which others can cancel the call.
  template <typename Answer, typename Call>
  Answer answer(grpc::ClientContext* context, Call call) const {
    prepare(context, timeout_);
    Answer answer;
    const grpc::Status status = call(context, &answer);
    if (!status.ok()) raise(error_of(status));
    check_server_of(*context);
    return answer;
  }

  /// Call of the standard health protocol.
  int health(const std::string& service) const;

  wire::BenchmarkService::Stub* benchmarks() const { return benchmarks_.get(); }
  wire::EvaluatorService::Stub* evaluators() const { return evaluators_.get(); }
  wire::ScoringService::Stub* scoring() const { return scoring_.get(); }
  wire::ServerService::Stub* servers() const { return servers_.get(); }
  wire::SubmissionService::Stub* submissions() const { return submissions_.get(); }

 private:
  /// Refuse a server by the version that it states at the end of a call.
  static void check_server_of(const grpc::ClientContext& context);

  std::string authorization_;
  Duration timeout_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<wire::BenchmarkService::Stub> benchmarks_;
  std::unique_ptr<wire::EvaluatorService::Stub> evaluators_;
  std::unique_ptr<wire::ScoringService::Stub> scoring_;
  std::unique_ptr<wire::ServerService::Stub> servers_;
  std::unique_ptr<wire::SubmissionService::Stub> submissions_;
};

}  // namespace vidscore::detail

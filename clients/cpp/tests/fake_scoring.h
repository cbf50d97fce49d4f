// A scoring server that plays a script: the test chooses its answers, and it records the requests.

#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "details.h"
#include "monitor.h"
#include "vidscore/client.h"
#include "vidscore/v1/evaluator_service.grpc.pb.h"
#include "vidscore/v1/scoring_service.grpc.pb.h"
#include "wire.h"

namespace vidscore::testing {

namespace wire = detail::wire;

/// Time that a test waits for something that must happen before it fails.
inline constexpr Duration kWait = std::chrono::seconds(60);

/// The answer of the server to a scoring stream.
enum class Script {
  accept,                // accept everything; the final report counts the frames of both sides
  answer_each,           // answer each batch with a live report that counts the batches
  slow,                  // accept, but no frame before `go_on`
  refuse_first_batch,    // accept, and refuse the first batch with thirty violations
  refuse_configuration,  // refuse the stream
  end_at_once,           // accept, and end without an error but without a final report
  never_accept,          // accept everything and answer nothing
};

/// A server in this process, with two evaluators, one per page.
class FakeScoring final : public wire::ScoringService::Service,
                          public wire::EvaluatorService::Service {
 public:
  explicit FakeScoring(Script script, std::map<std::string, std::int64_t> limits = {})
      : script_(script), limits_(std::move(limits)) {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(static_cast<wire::ScoringService::Service*>(this));
    builder.RegisterService(static_cast<wire::EvaluatorService::Service*>(this));
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }

  ~FakeScoring() override {
    go_on();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  /// A client of it with a token.
  Client client(Duration timeout = std::chrono::seconds(10)) const {
    ClientOptions options;
    options.token = "secret";
    options.timeout = timeout;
    return Client(address_, options);
  }

  /// Let a slow server accept frames.
  void go_on() {
    const detail::Lock lock = monitor_.lock();
    going_on_ = true;
    monitor_.notify();
  }

  /// Wait until a scoring stream has ended in any way; returns whether one has.
  bool await_finished() {
    detail::Lock lock = monitor_.lock();
    return monitor_.wait(lock, detail::later(detail::Clock::now(), kWait),
                         [this] { return finished_; });
  }

  /// Number of frames of each message, in order of arrival.
  std::vector<int> batch_sizes() {
    const detail::Lock lock = monitor_.lock();
    return batch_sizes_;
  }

  std::vector<std::string> authorizations;

 private:
  using Stream = grpc::ServerReaderWriter<wire::ScoreResponse, wire::ScoreRequest>;

  grpc::Status Score(grpc::ServerContext*, Stream* stream) override {
    const grpc::Status status = play(stream);
    const detail::Lock lock = monitor_.lock();
    finished_ = true;
    monitor_.notify();
    return status;
  }

  grpc::Status play(Stream* stream) {
    wire::ScoreRequest request;
    stream->Read(&request);
    if (script_ == Script::refuse_configuration) {
      return {grpc::StatusCode::NOT_FOUND, "no such evaluator"};
    }
    while (script_ == Script::never_accept && stream->Read(&request)) {
    }
    wire::ScoreResponse started;
    started.mutable_started()->set_server_version("9.8.7");
    started.mutable_started()->mutable_limits()->insert(limits_.begin(), limits_.end());
    stream->Write(started);
    if (script_ == Script::end_at_once) return grpc::Status::OK;
    if (script_ == Script::slow) await_going_on();
    return take_frames(stream);
  }

  grpc::Status take_frames(Stream* stream) {
    wire::ScoreRequest request;
    int frames = 0;
    for (int batches = 1; stream->Read(&request); ++batches) {
      const int count =
          request.truth().frame_numbers_size() + request.detections().frame_numbers_size();
      frames += count;
      {
        const detail::Lock lock = monitor_.lock();
        batch_sizes_.push_back(count);
      }
      if (script_ == Script::refuse_first_batch) return many_faults();
      if (script_ == Script::answer_each) {
        wire::ScoreResponse live;
        add_report(live.mutable_live()->add_reports(), batches);
        live.mutable_live()->mutable_coverage()->set_paired_frames(batches);
        stream->Write(live);
      }
    }
    wire::ScoreResponse last;
    add_report(last.mutable_final()->add_reports(), frames);
    stream->Write(last);
    return grpc::Status::OK;
  }

  static grpc::Status many_faults() {
    return {
        grpc::StatusCode::INVALID_ARGUMENT, "many faults",
        error_info("INVALID_INPUT", {{"violations", "30"}}) +
            bad_request({{"truth.coordinates[0]", "found nan"}, {"truth.labels", "found two"}})};
  }

  /// A report whose only score is a number of frames.
  static void add_report(wire::Report* report, int frames) {
    report->set_evaluator("fake");
    report->add_scores()->set_measure("frames");
    report->mutable_scores(0)->mutable_value()->set_count(frames);
  }

  void await_going_on() {
    detail::Lock lock = monitor_.lock();
    monitor_.wait(lock, detail::later(detail::Clock::now(), kWait), [this] { return going_on_; });
  }

  grpc::Status ListEvaluators(grpc::ServerContext* context,
                              const wire::ListEvaluatorsRequest* request,
                              wire::ListEvaluatorsResponse* response) override {
    const auto& metadata = context->client_metadata();
    const auto found = metadata.find("authorization");
    authorizations.push_back(
        found == metadata.end() ? "" : std::string(found->second.data(), found->second.size()));
    const bool second = !request->page_token().empty();
    response->add_evaluators()->set_name(second ? "evaluators/two" : "evaluators/one");
    if (!second) response->set_next_page_token("second");
    return grpc::Status::OK;
  }

  grpc::Status GetEvaluator(grpc::ServerContext*, const wire::GetEvaluatorRequest* request,
                            wire::GetEvaluatorResponse* response) override {
    if (request->name() != "evaluators/one") return {grpc::StatusCode::NOT_FOUND, "no such one"};
    response->mutable_evaluator()->set_name("evaluators/one");
    return grpc::Status::OK;
  }

  const Script script_;
  const std::map<std::string, std::int64_t> limits_;
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  detail::Monitor monitor_;
  bool going_on_ = false;
  bool finished_ = false;
  std::vector<int> batch_sizes_;
};

}  // namespace vidscore::testing

// A server that accepts submissions by the offset protocol, kept in memory, and fails on demand.

#pragma once

#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "checksum.h"
#include "details.h"
#include "monitor.h"
#include "vidscore/client.h"
#include "vidscore/v1/benchmark_service.grpc.pb.h"
#include "vidscore/v1/submission_service.grpc.pb.h"
#include "wire.h"

namespace vidscore::testing {

namespace wire = detail::wire;

inline constexpr char kRun[] = "benchmarks/streets/submissions/run";

/// Faults of an append.
enum class Fault {
  none,
  break_before,  // the call breaks before the batch is stored
  break_after,   // the call breaks after it is stored, before it is acknowledged
  take_half,     // half of it is stored, and then the call breaks
  fall_behind,   // the batch is lost, and the server answers that the offset is ahead
  say_nothing,   // nothing is answered
  refuse,        // it is refused finally
};

/// A server in this process; a test holds `lock` to look at it.
class FakeSubmissions final : public wire::SubmissionService::Service,
                              public wire::BenchmarkService::Service {
 public:
  FakeSubmissions() {
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(static_cast<wire::SubmissionService::Service*>(this));
    builder.RegisterService(static_cast<wire::BenchmarkService::Service*>(this));
    server_ = builder.BuildAndStart();
    address_ = "127.0.0.1:" + std::to_string(port);
  }

  ~FakeSubmissions() override { stop(); }

  /// Cut all connections and accept no more.
  void stop() { server_->Shutdown(std::chrono::system_clock::now()); }

  Client client(const ClientOptions& options = {}) const { return Client(address_, options); }
  detail::Lock lock() const { return monitor_.lock(); }

  std::deque<Fault> faults;
  std::vector<std::int64_t> stored;                            // numbers of the stored frames
  std::vector<std::pair<std::int64_t, std::int64_t>> offsets;  // and epochs of what came
  std::map<std::string, std::int64_t> limits;                  // that it states
  wire::Geometry geometry = wire::GEOMETRY_BOX;                // of detections
  std::vector<std::string> creations;
  std::string refuse_creation;  // reason
  std::vector<std::int64_t> sealed_with;
  int lose_seals = 0;
  std::vector<std::int64_t> watches;
  /// The updates of each watcher, state and revision; revision 0 cuts the connection.
  std::deque<std::vector<std::pair<wire::SubmissionState, std::int64_t>>> watch_script;

 private:
  template <typename T>
  using Writer = grpc::ServerWriter<T>;
  using Stream = grpc::ServerReaderWriter<wire::AppendResponse, wire::AppendRequest>;

  static grpc::Status broken() { return {grpc::StatusCode::UNAVAILABLE, "Socket closed"}; }

  void show(wire::Submission* submission) const {
    submission->set_name(kRun);
    submission->set_state(state_);
    submission->set_frame_count(static_cast<std::int64_t>(stored.size()));
    if (epoch_ > 0) show(submission->add_streams());
  }

  void show(wire::StreamInfo* stream) const {
    stream->set_stream("default");
    stream->set_epoch(epoch_);
    stream->set_next_offset(static_cast<std::int64_t>(stored.size()));
  }

  grpc::Status append(grpc::ServerContext* context, const wire::AppendRequest& append,
                      std::int64_t* next_offset) {
    Fault fault = Fault::none;
    {
      const detail::Lock lock = monitor_.lock();
      offsets.emplace_back(append.offset(), append.epoch());
      if (!faults.empty()) {
        fault = faults.front();
        faults.pop_front();
      }
    }
    while (fault == Fault::say_nothing && !context->IsCancelled()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const detail::Lock lock = monitor_.lock();
    if (context->IsCancelled() || fault == Fault::break_before) return broken();
    if (fault == Fault::refuse) {
      return refusal(grpc::StatusCode::RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED");
    }
    if (fault == Fault::fall_behind) return refusal(grpc::StatusCode::OUT_OF_RANGE, "OFFSET_GAP");
    const auto& given = append.detections().frame_numbers();
    if (fault == Fault::take_half) {
      stored.insert(stored.end(), given.begin(), given.begin() + given.size() / 2);
      return broken();
    }
    const grpc::Status status = store(append, next_offset);
    return fault == Fault::break_after && status.ok() ? broken() : status;
  }

  /// Follow the offset protocol.
  grpc::Status store(const wire::AppendRequest& append, std::int64_t* next_offset) {
    const auto known = static_cast<std::int64_t>(stored.size());
    const auto& given = append.detections().frame_numbers();
    if (!append.has_detections_crc32() ||
        append.detections_crc32() != detail::crc32(append.detections().SerializeAsString())) {
      return refusal(grpc::StatusCode::INVALID_ARGUMENT, "CONTENT_DAMAGED");
    }
    if (append.epoch() != epoch_) return refusal(grpc::StatusCode::ABORTED, "EPOCH_STALE");
    if (append.offset() > known) return refusal(grpc::StatusCode::OUT_OF_RANGE, "OFFSET_GAP");
    if (append.offset() == known) {
      stored.insert(stored.end(), given.begin(), given.end());
      batches_[append.offset()] = append.detections().SerializeAsString();
    } else if (append.offset() + given.size() > known) {
      return refusal(grpc::StatusCode::OUT_OF_RANGE, "OFFSET_STRADDLES");
    } else if (batches_[append.offset()] != append.detections().SerializeAsString()) {
      return refusal(grpc::StatusCode::ALREADY_EXISTS, "CONTENT_DIFFERS");
    }
    *next_offset = static_cast<std::int64_t>(stored.size());
    return grpc::Status::OK;
  }

  grpc::Status CreateSubmission(grpc::ServerContext*, const wire::CreateSubmissionRequest* request,
                                wire::CreateSubmissionResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    creations.push_back(request->submission_id());
    if (!refuse_creation.empty()) {
      return refusal(grpc::StatusCode::ALREADY_EXISTS, refuse_creation);
    }
    state_ = wire::SUBMISSION_STATE_OPEN;
    show(response->mutable_submission());
    return grpc::Status::OK;
  }

  grpc::Status GetSubmission(grpc::ServerContext*, const wire::GetSubmissionRequest* request,
                             wire::GetSubmissionResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    if (request->name() != kRun || state_ == wire::SUBMISSION_STATE_UNSPECIFIED) {
      return refusal(grpc::StatusCode::NOT_FOUND, "NOT_FOUND");
    }
    show(response->mutable_submission());
    return grpc::Status::OK;
  }

  grpc::Status ListSubmissions(grpc::ServerContext*, const wire::ListSubmissionsRequest* request,
                               wire::ListSubmissionsResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    show(response->add_submissions());
    if (request->page_token().empty()) response->set_next_page_token("second");
    return grpc::Status::OK;
  }

  grpc::Status OpenStream(grpc::ServerContext*, const wire::OpenStreamRequest*,
                          wire::OpenStreamResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    ++epoch_;
    show(response->mutable_stream());
    for (const auto& [name, limit] : limits) (*response->mutable_limits())[name] = limit;
    return grpc::Status::OK;
  }

  grpc::Status AppendFrames(grpc::ServerContext* context, Stream* stream) override {
    wire::AppendRequest request;
    while (stream->Read(&request)) {
      wire::AppendResponse response;
      std::int64_t next_offset = 0;
      const grpc::Status status = append(context, request, &next_offset);
      if (!status.ok()) return status;
      response.set_next_offset(next_offset);
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

  grpc::Status AppendBatch(grpc::ServerContext* context, const wire::AppendRequest* request,
                           wire::AppendResponse* response) override {
    std::int64_t next_offset = 0;
    const grpc::Status status = append(context, *request, &next_offset);
    response->set_next_offset(next_offset);
    return status;
  }

  grpc::Status SealSubmission(grpc::ServerContext*, const wire::SealSubmissionRequest* request,
                              wire::SealSubmissionResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    sealed_with.push_back(request->expected_frame_count());
    if (request->expected_frame_count() != static_cast<std::int64_t>(stored.size())) {
      return refusal(grpc::StatusCode::FAILED_PRECONDITION, "FRAME_COUNT_DIFFERS");
    }
    state_ = wire::SUBMISSION_STATE_SEALED;
    if (lose_seals-- > 0) return broken();
    show(response->mutable_submission());
    return grpc::Status::OK;
  }

  grpc::Status CancelSubmission(grpc::ServerContext*, const wire::CancelSubmissionRequest*,
                                wire::CancelSubmissionResponse* response) override {
    const detail::Lock lock = monitor_.lock();
    state_ = wire::SUBMISSION_STATE_CANCELLED;
    show(response->mutable_submission());
    return grpc::Status::OK;
  }

  grpc::Status WatchSubmission(grpc::ServerContext*, const wire::WatchSubmissionRequest* request,
                               Writer<wire::WatchSubmissionResponse>* writer) override {
    const detail::Lock lock = monitor_.lock();
    watches.push_back(request->from_revision());
    if (watch_script.empty()) return grpc::Status::OK;
    const auto script = std::move(watch_script.front());
    watch_script.pop_front();
    for (const auto& [state, revision] : script) {
      if (revision == 0) return broken();
      wire::WatchSubmissionResponse update;
      update.mutable_submission()->set_state(state);
      update.mutable_submission()->set_revision(revision);
      writer->Write(update);
    }
    return grpc::Status::OK;
  }

  grpc::Status ListScores(grpc::ServerContext*, const wire::ListScoresRequest*,
                          wire::ListScoresResponse* response) override {
    response->add_scores()->set_name("1");
    return grpc::Status::OK;
  }

  grpc::Status GetBenchmark(grpc::ServerContext*, const wire::GetBenchmarkRequest* request,
                            wire::GetBenchmarkResponse* response) override {
    if (request->name() != "benchmarks/streets") {
      return refusal(grpc::StatusCode::NOT_FOUND, "NOT_FOUND");
    }
    response->mutable_benchmark()->set_detection_geometry(geometry);
    return grpc::Status::OK;
  }

  /// Two pages of one row, of which the first has no value.
  grpc::Status GetLeaderboard(grpc::ServerContext*, const wire::GetLeaderboardRequest* request,
                              wire::GetLeaderboardResponse* response) override {
    const bool second = !request->page_token().empty();
    wire::LeaderboardRow* row = response->add_rows();
    row->set_rank(second ? 2 : 1);
    row->add_scores()->set_measure("f1");
    if (second) row->mutable_scores(0)->set_value(0.5);
    response->add_ranking("f1");
    if (!second) response->set_next_page_token("second");
    return grpc::Status::OK;
  }

  std::string address_;
  std::unique_ptr<grpc::Server> server_;
  detail::Monitor monitor_;
  std::int64_t epoch_ = 0;
  wire::SubmissionState state_ = wire::SUBMISSION_STATE_UNSPECIFIED;
  std::map<std::int64_t, std::string> batches_;
};

}  // namespace vidscore::testing

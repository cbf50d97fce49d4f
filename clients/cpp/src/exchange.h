// The call of a scoring stream, and its two threads.

#pragma once

#include <grpcpp/client_context.h>

#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "connection.h"
#include "monitor.h"
#include "score_state.h"
#include "vidscore/score_stream.h"

namespace vidscore {

/// The implementation of a ScoreStream.
class ScoreStream::Exchange {
 public:
  /// Make the call. `await_start` must follow.
  Exchange(std::shared_ptr<const detail::Connection> connection, ScoreOptions options);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Wait until the server has accepted the stream.
  void await_start();

  detail::Started started() const;
  std::optional<LiveReport> latest() const;
  void put(Side side, std::vector<Frame> frames, bool single);
  std::optional<LiveReport> next_report();
  std::vector<Report> finish(const std::optional<Duration>& timeout);
  void cancel();

 private:
  using Call = grpc::ClientReaderWriter<detail::wire::ScoreRequest, detail::wire::ScoreResponse>;

  void wait_for_room(detail::Lock& lock, Side side, detail::Item* item);
  void send(const detail::wire::ScoreRequest& first);
  std::optional<detail::Batch> next_batch();
  bool write(const detail::Batch& batch);
  void read();
  std::optional<Error> read_all();
  void handle(const detail::wire::ScoreResponse& response);
  void tell(const LiveReport& report);
  void end(const std::optional<Error>& error);
  Geometry geometry(Side side) const;

  const std::shared_ptr<const detail::Connection> connection_;
  const ScoreOptions options_;
  detail::Monitor monitor_;
  detail::ScoreState state_;
  bool silent_ = false;  // whether the server sends no more
  grpc::ClientContext context_;
  std::unique_ptr<Call> call_;
  std::thread sender_;
  std::thread reader_;
};

}  // namespace vidscore

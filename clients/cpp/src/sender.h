// Delivers the frames of an append stream: connects, sends, and continues after breaks.

#pragma once

#include <grpcpp/client_context.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "append_state.h"
#include "connection.h"
#include "monitor.h"

namespace vidscore::detail {

/// An append stream that was opened for this writer.
struct OpenedStream {
  Submission submission;
  StreamInfo stream;
  Geometry geometry = Geometry::box;
};

/// Delivers frames from its own thread, and with another one while it is connected.
class Sender {
 public:
  Sender(std::shared_ptr<const Connection> connection, OpenedStream opened, SubmitOptions options);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  const OpenedStream& opened() const { return opened_; }
  std::uint64_t acknowledged() const;
  std::uint64_t reconnections() const;
  std::size_t undelivered() const;

  /// Queue frames; if the queue is full, do what the policy says.
  void put(Item item);
  /// Wait until every frame is durable.
  std::uint64_t flush(const std::optional<Duration>& timeout);
  /// Deliver the accepted frames within a time, and end; do nothing if this client has ended the
  /// stream.
  void close(const std::optional<Duration>& timeout);
  /// End at once.
  void abort();

 private:
  class Present;
  class Writer;

  void close_behind() noexcept;
  void refuse_in_callback() const;
  void wait_for_room(Lock& lock, Item* item);
  void run();
  void deliver_all();
  bool await_work();
  void pause(const Error& error);
  void deliver();
  void resume();
  void deliver_one_by_one();
  void deliver_over_a_call();
  void read(grpc::ClientReaderWriter<wire::AppendRequest, wire::AppendResponse>* call,
            grpc::ClientContext* context);
  std::optional<Sent> next_batch(std::uint64_t connection);
  void watch_for_stall(Lock& lock);
  void sleep(Lock& lock, const std::optional<Instant>& limit);
  void append(const Sent& batch, wire::AppendRequest* message) const;
  void acknowledge(std::int64_t next_offset);
  void tell(bool grown);
  void end(const std::optional<Error>& error);

  const std::shared_ptr<const Connection> connection_;
  const OpenedStream opened_;
  const SubmitOptions options_;
  Monitor monitor_;
  AppendState state_;
  grpc::ClientContext* context_ = nullptr;  // of the present call, if there is one
  bool left_ = false;                       // whether this client has closed or aborted it
  const int exceptions_ = std::uncaught_exceptions();  // at its birth
  bool stalled_ = false;  // whether that call was cancelled because of silence
  std::thread thread_;
};

}  // namespace vidscore::detail

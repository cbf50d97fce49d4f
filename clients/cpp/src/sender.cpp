#include "sender.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "checks.h"
#include "checksum.h"
#include "decoding.h"
#include "encoding.h"
#include "names.h"
#include "retrying.h"

namespace vidscore::detail {
namespace {

/// How long closing a stream waits for the server to end the call.
constexpr Duration kJoinTimeout = std::chrono::seconds(5);

using Call = grpc::ClientReaderWriter<wire::AppendRequest, wire::AppendResponse>;

/// The error of an aborted stream.
Error aborted() { return local_error(ErrorKind::closed, "the stream was aborted", "CLOSED"); }

/// The error of a connection without acknowledgements.
Error no_answer(Duration timeout) {
  return coded_error(ErrorKind::unavailable, "UNAVAILABLE",
                     "the server has acknowledged nothing for " + show(timeout));
}

[[noreturn]] void raise_not_flushed(Duration timeout) {
  raise(coded_error(
      ErrorKind::deadline, "DEADLINE_EXCEEDED",
      "not every frame was durable within " + show(timeout) + "; the stream continues"));
}

/// The error of frames that are dropped after the timeout of delivery.
Error not_delivered(std::size_t frames, Duration timeout) {
  return coded_error(ErrorKind::deadline, "DEADLINE_EXCEEDED",
                     counted(frames, "frame") + " dropped: not durable within " + show(timeout));
}

Error callback_failed(const std::string& what) {
  return local_error(ErrorKind::callback, "on_acknowledged threw: " + what, "CALLBACK_FAILED");
}

}  // namespace

/// Makes a call the present one for its lifetime: the end of the stream cancels it.
class Sender::Present {
 public:
  Present(Sender* sender, grpc::ClientContext* context) : sender_(sender) {
    const Lock lock = sender_->monitor_.lock();
    sender_->context_ = context;
    sender_->stalled_ = false;
    if (sender_->state_.ended()) context->TryCancel();
  }

  ~Present() {
    const Lock lock = sender_->monitor_.lock();
    sender_->context_ = nullptr;
  }

  Present(const Present&) = delete;
  Present& operator=(const Present&) = delete;

 private:
  Sender* sender_;
};

/// Sends over one call from its own thread, which ends before this object.
class Sender::Writer {
 public:
  Writer(Sender* sender, Call* call, std::uint64_t connection)
      : sender_(sender), thread_([=] { send(sender, call, connection); }) {}

  ~Writer() {
    {
      const Lock lock = sender_->monitor_.lock();
      sender_->state_.disconnect();
    }
    sender_->monitor_.notify();
    thread_.join();
  }

 private:
  static void send(Sender* sender, Call* call, std::uint64_t connection) {
    while (const std::optional<Sent> batch = sender->next_batch(connection)) {
      wire::AppendRequest request;
      sender->append(*batch, &request);
      if (!call->Write(request)) return;  // the call is over, and the reader gets the cause
    }
    call->WritesDone();
  }

  Sender* sender_;
  std::thread thread_;
};

Sender::Sender(std::shared_ptr<const Connection> connection, OpenedStream opened,
               SubmitOptions options)
    : connection_(std::move(connection)),
      opened_(std::move(opened)),
      options_(std::move(options)),
      state_(opened_.stream, options_.batching, options_.delivery, options_.replay),
      thread_([this] { run(); }) {}

/// Stack unwinding must not wait.
Sender::~Sender() {
  if (std::uncaught_exceptions() == exceptions_) close_behind();
  end(aborted());
  thread_.join();
}

/// Close in a destructor, which must not throw.
void Sender::close_behind() noexcept {
  try {
    close(std::nullopt);
  } catch (const std::exception&) {
    std::fprintf(stderr, "vidscore: %s of %s dropped: not durable\n",
                 counted(undelivered(), "frame").c_str(), opened_.submission.name.c_str());
  }
}

std::uint64_t Sender::acknowledged() const {
  const Lock lock = monitor_.lock();
  return state_.acknowledged();
}

std::size_t Sender::undelivered() const {
  const Lock lock = monitor_.lock();
  return state_.undelivered();
}

std::uint64_t Sender::reconnections() const {
  const Lock lock = monitor_.lock();
  return state_.reconnections();
}

void Sender::put(Item item) {
  Lock lock = monitor_.lock();
  const Due before = state_.due();
  const bool waited = !state_.admit(&item, Clock::now());
  if (waited) wait_for_room(lock, &item);
  watch_for_stall(lock);
  // The sender sleeps until something is due; only an earlier time concerns it. While this thread
  // waited it may have sent all that there was, and sleeps without a time.
  if (waited || state_.due() != before) monitor_.notify();
}

void Sender::wait_for_room(Lock& lock, Item* item) {
  const Batching& batching = options_.batching;
  if (batching.policy == Policy::raise) raise(state_.refusal(std::nullopt));
  const std::optional<Instant> limit = limit_of(batching.block_timeout);
  while (!state_.admit(item, Clock::now())) {
    if (limit && Clock::now() >= *limit) raise(state_.refusal(batching.block_timeout));
    sleep(lock, limit);
  }
}

void Sender::refuse_in_callback() const {
  if (std::this_thread::get_id() == thread_.get_id()) {
    raise(local_error(ErrorKind::callback,
                      "flush, close and seal cannot be called in on_acknowledged: they would wait "
                      "for themselves",
                      "CALLBACK_FAILED"));
  }
}

std::uint64_t Sender::flush(const std::optional<Duration>& timeout) {
  refuse_in_callback();
  Lock lock = monitor_.lock();
  state_.flush();
  monitor_.notify();
  const std::optional<Instant> limit = limit_of(timeout);
  while (!state_.drained()) {
    if (limit && Clock::now() >= *limit) raise_not_flushed(*timeout);
    sleep(lock, limit);
  }
  state_.check_delivered();
  return state_.acknowledged();
}

void Sender::close(const std::optional<Duration>& timeout) {
  refuse_in_callback();
  const Duration bound = timeout.value_or(options_.delivery.close_timeout);
  {
    Lock lock = monitor_.lock();
    if (left_ && state_.ended()) return;
    left_ = true;
    state_.close();
    monitor_.notify();
    const Instant limit = later(Clock::now(), bound);
    while (!state_.drained() && Clock::now() < limit) sleep(lock, limit);
    if (state_.drained()) {
      monitor_.wait(lock, later(Clock::now(), kJoinTimeout), [this] { return state_.ended(); });
    } else {
      state_.end(not_delivered(state_.undelivered(), bound));
    }
  }
  end(std::nullopt);
  const Lock lock = monitor_.lock();
  state_.check_delivered();
}

void Sender::abort() {
  {
    const Lock lock = monitor_.lock();
    left_ = true;
  }
  end(aborted());
}

/// Sleep until something changes, a time, or the time of a missing answer.
void Sender::sleep(Lock& lock, const std::optional<Instant>& limit) {
  watch_for_stall(lock);
  std::optional<Instant> until = state_.stalled_at();
  if (limit) until = until ? std::min(*until, *limit) : *limit;
  monitor_.sleep(lock, until);
}

/// Cancel a call that gets no acknowledgements.
void Sender::watch_for_stall(Lock&) {
  const std::optional<Instant> stalled_at = state_.stalled_at();
  if (!stalled_at || Clock::now() < *stalled_at) return;
  stalled_ = true;
  state_.disconnect();
  monitor_.notify();
  if (context_ != nullptr) context_->TryCancel();
}

void Sender::run() {
  try {
    deliver_all();
    end(std::nullopt);
  } catch (const Error& error) {
    end(error);
  } catch (const std::exception& error) {
    const std::string message = std::string("frames could not be sent: ") + error.what();
    end(local_error(ErrorKind::internal, message));
  }
}

void Sender::deliver_all() {
  while (await_work()) {
    try {
      deliver();
    } catch (const Error& error) {
      pause(error);
    }
  }
}

/// Wait until there is something to deliver or the stream has ended; returns whether there is.
bool Sender::await_work() {
  Lock lock = monitor_.lock();
  monitor_.wait(lock, std::nullopt, [this] { return state_.closing() || !state_.idle(); });
  return !state_.drained();
}

void Sender::pause(const Error& error) {
  Lock lock = monitor_.lock();
  const Instant until = later(Clock::now(), state_.delay(error, Clock::now()));
  monitor_.wait(lock, until, [this] { return state_.ended(); });
}

void Sender::deliver() {
  bool broken = false;
  {
    const Lock lock = monitor_.lock();
    broken = state_.broken();
  }
  if (broken) resume();
  if (options_.delivery.unary) {
    deliver_one_by_one();
  } else {
    deliver_over_a_call();
  }
}

void Sender::resume() {
  wire::GetSubmissionRequest request;
  request.set_name(opened_.submission.name);
  grpc::ClientContext context;
  const Present present(this, &context);
  const auto answer =
      connection_->answer<wire::GetSubmissionResponse>(&context, [&](auto* given, auto* response) {
        return connection_->submissions()->GetSubmission(given, request, response);
      });
  const Submission submission = decode_submission(answer.submission());
  bool grown = false;
  {
    const Lock lock = monitor_.lock();
    grown = state_.resume(submission.find_stream(opened_.stream.stream), Clock::now());
  }
  monitor_.notify();
  tell(grown);
}

void Sender::deliver_one_by_one() {
  std::uint64_t connection = 0;
  {
    const Lock lock = monitor_.lock();
    connection = state_.connection();
  }
  while (const std::optional<Sent> batch = next_batch(connection)) {
    wire::AppendRequest request;
    append(*batch, &request);
    grpc::ClientContext context;
    const Present present(this, &context);
    const auto answer =
        connection_->answer<wire::AppendResponse>(&context, [&](auto* given, auto* response) {
          return connection_->submissions()->AppendBatch(given, request, response);
        });
    acknowledge(answer.next_offset());
  }
}

void Sender::deliver_over_a_call() {
  grpc::ClientContext context;
  connection_->prepare(&context, std::nullopt);
  const Present present(this, &context);
  const auto call = connection_->submissions()->AppendFrames(&context);
  std::exception_ptr failure;
  try {
    read(call.get(), &context);
  } catch (...) {
    failure = std::current_exception();
  }
  const grpc::Status status = call->Finish();
  bool drained = false;
  bool stalled = false;
  {
    const Lock lock = monitor_.lock();
    drained = state_.drained();
    stalled = stalled_;
  }
  if (failure) std::rethrow_exception(failure);
  if (stalled) raise(no_answer(options_.delivery.acknowledge_timeout));
  if (!status.ok()) raise(error_of(status));
  if (!drained) raise(ended_early());
}

/// Read acknowledgements while another thread sends, until the server or the sender has ended.
void Sender::read(Call* call, grpc::ClientContext* context) {
  std::uint64_t connection = 0;
  {
    const Lock lock = monitor_.lock();
    connection = state_.connection();
  }
  const Writer writer(this, call, connection);
  wire::AppendResponse response;
  try {
    while (call->Read(&response)) acknowledge(response.next_offset());
  } catch (...) {
    context->TryCancel();  // or the sender might wait in the call, and this thread for the sender
    throw;
  }
}

std::optional<Sent> Sender::next_batch(std::uint64_t connection) {
  Lock lock = monitor_.lock();
  while (!state_.nothing_to_send() && state_.connection() == connection) {
    if (std::optional<Sent> batch = state_.take(Clock::now())) {
      monitor_.notify();  // there is room in the queue
      return batch;
    }
    sleep(lock, state_.due());
  }
  return std::nullopt;
}

/// The message of a batch; the same batch always gives the same bytes.
void Sender::append(const Sent& batch, wire::AppendRequest* message) const {
  message->set_stream(opened_.submission.name + "/streams/" + opened_.stream.stream);
  message->set_epoch(opened_.stream.epoch);
  message->set_offset(static_cast<std::int64_t>(batch.offset));
  encode_frames(*batch.frames, opened_.geometry, message->mutable_detections());
  message->set_detections_crc32(crc32(message->detections().SerializeAsString()));
}

void Sender::acknowledge(std::int64_t next_offset) {
  bool grown = false;
  {
    const Lock lock = monitor_.lock();
    grown = state_.acknowledge(natural(next_offset), Clock::now());
  }
  monitor_.notify();
  tell(grown);
}

void Sender::tell(bool grown) {
  const auto& on_acknowledged = options_.delivery.on_acknowledged;
  if (!grown || !on_acknowledged) return;
  try {
    on_acknowledged(acknowledged());
  } catch (const std::exception& error) {
    raise(callback_failed(error.what()));
  } catch (...) {
    raise(callback_failed("an exception that is not a std::exception"));
  }
}

void Sender::end(const std::optional<Error>& error) {
  {
    const Lock lock = monitor_.lock();
    state_.end(error);
    if (context_ != nullptr) context_->TryCancel();
  }
  monitor_.notify();
}

}  // namespace vidscore::detail

#include "vidscore/score_stream.h"

#include <exception>
#include <string>
#include <utility>

#include "checks.h"
#include "decoding.h"
#include "encoding.h"
#include "exchange.h"
#include "failing.h"
#include "status.h"

namespace vidscore {

using detail::Clock;
using detail::coded_error;
using detail::Instant;
using detail::local_error;
using detail::Lock;
using detail::raise;
using detail::show;

namespace {

/// The error of a stream that this client has cancelled.
Error cancelled() {
  return coded_error(ErrorKind::call_cancelled, "CANCELLED",
                     "the stream was cancelled by this client");
}

Error late(const std::string& message) {
  return coded_error(ErrorKind::deadline, "DEADLINE_EXCEEDED", message);
}

Error callback_failed(const std::string& what) {
  return local_error(ErrorKind::callback, "on_report threw: " + what, "CALLBACK_FAILED");
}

void check_options(const ScoreOptions& options) {
  detail::check(options.batching);
  if (options.live) detail::check(*options.live);
  if (options.timeout) detail::check_positive("timeout", *options.timeout);
}

}  // namespace

// --- the exchange --------------------------------------------------------------------------------

ScoreStream::Exchange::Exchange(std::shared_ptr<const detail::Connection> connection,
                                ScoreOptions options)
    : connection_(std::move(connection)),
      options_(std::move(options)),
      state_(options_.batching, options_.live) {
  check_options(options_);
  const detail::wire::ScoreRequest first = detail::encode_configuration(options_);
  connection_->prepare(&context_, options_.timeout);
  context_.set_initial_metadata_corked(true);  // or the call would wait for its connection here
  call_ = connection_->scoring()->Score(&context_);
  sender_ = std::thread([this, first] { send(first); });
  reader_ = std::thread([this] { read(); });
}

ScoreStream::Exchange::~Exchange() {
  cancel();
  if (reader_.joinable()) reader_.join();
}

void ScoreStream::Exchange::await_start() {
  const Duration timeout = connection_->timeout();
  Lock lock = monitor_.lock();
  const bool told = monitor_.wait(lock, detail::later(Clock::now(), timeout),
                                  [this] { return state_.started() || state_.ended(); });
  if (state_.started()) return;  // later errors are reported by later calls
  state_.check();
  if (!told) raise(late("the server has not accepted the stream within " + show(timeout)));
}

detail::Started ScoreStream::Exchange::started() const {
  const Lock lock = monitor_.lock();
  return state_.started().value_or(detail::Started());
}

std::optional<LiveReport> ScoreStream::Exchange::latest() const {
  const Lock lock = monitor_.lock();
  return state_.latest();
}

void ScoreStream::Exchange::put(Side side, std::vector<Frame> frames, bool single) {
  for (const Frame& frame : frames) detail::check(frame, geometry(side));
  if (frames.empty()) return;
  detail::Item item{std::move(frames), single};
  Lock lock = monitor_.lock();
  const detail::Due before = state_.outbox().due();
  const bool waited = !state_.admit(side, &item, Clock::now());
  if (waited) wait_for_room(lock, side, &item);
  // The sender sleeps until something is due; only an earlier time concerns it. While this thread
  // waited it may have sent all that there was, and sleeps without a time.
  if (waited || state_.outbox().due() != before) monitor_.notify();
}

void ScoreStream::Exchange::wait_for_room(Lock& lock, Side side, detail::Item* item) {
  const Batching& batching = options_.batching;
  if (batching.policy == Policy::raise) raise(state_.refusal(std::nullopt));
  const auto admitted = [&] { return state_.admit(side, item, Clock::now()); };
  if (!monitor_.wait(lock, detail::limit_of(batching.block_timeout), admitted)) {
    raise(state_.refusal(batching.block_timeout));
  }
}

std::optional<LiveReport> ScoreStream::Exchange::next_report() {
  Lock lock = monitor_.lock();
  monitor_.wait(lock, std::nullopt, [this] { return state_.readable(); });
  return state_.next_report();
}

std::vector<Report> ScoreStream::Exchange::finish(const std::optional<Duration>& timeout) {
  if (std::this_thread::get_id() == reader_.get_id()) {
    raise(local_error(ErrorKind::callback,
                      "finish cannot be called in on_report: it would wait for itself",
                      "CALLBACK_FAILED"));
  }
  Lock lock = monitor_.lock();
  state_.close();
  monitor_.notify();
  const auto ended = [this] { return state_.ended(); };
  if (!monitor_.wait(lock, detail::limit_of(timeout), ended)) {
    raise(late("no final report within " + show(*timeout) +
               "; the stream continues: call finish again to wait longer, or cancel it"));
  }
  return state_.final_reports();
}

void ScoreStream::Exchange::cancel() {
  {
    const Lock lock = monitor_.lock();
    if (state_.ended()) return;
  }
  end(cancelled());
  context_.TryCancel();
}

/// The sending thread: sends one message after the other, until there are no more or the call is
/// over; the reader gets the cause.
void ScoreStream::Exchange::send(const detail::wire::ScoreRequest& first) {
  try {
    if (!call_->Write(first)) return;
    while (const std::optional<detail::Batch> batch = next_batch()) {
      if (!write(*batch)) return;
    }
    call_->WritesDone();
  } catch (const std::exception& error) {
    end(local_error(ErrorKind::internal,
                    std::string("a batch could not be sent: ") + error.what()));
    context_.TryCancel();
  }
}

bool ScoreStream::Exchange::write(const detail::Batch& batch) {
  detail::wire::ScoreRequest request;
  const bool truth = batch.side == Side::truth;
  detail::encode_frames(batch.frames, geometry(batch.side),
                        truth ? request.mutable_truth() : request.mutable_detections());
  return call_->Write(request);
}

std::optional<detail::Batch> ScoreStream::Exchange::next_batch() {
  Lock lock = monitor_.lock();
  while (!silent_ && !state_.nothing_to_send()) {
    if (std::optional<detail::Batch> batch = state_.take(Clock::now())) {
      monitor_.notify();  // there is room in the queue
      return batch;
    }
    monitor_.sleep(lock, state_.outbox().due());
  }
  return std::nullopt;
}

/// The reading thread; it ends the stream, and finally the sender.
void ScoreStream::Exchange::read() {
  std::optional<Error> error = read_all();
  if (error) {
    end(error);
    context_.TryCancel();
  }
  {
    const Lock lock = monitor_.lock();
    silent_ = true;  // the sender has nothing to wait for
  }
  monitor_.notify();
  sender_.join();
  const grpc::Status status = call_->Finish();
  if (!error && !status.ok()) error.emplace(detail::error_of(status));
  end(error);
}

std::optional<Error> ScoreStream::Exchange::read_all() {
  detail::wire::ScoreResponse response;
  try {
    while (call_->Read(&response)) handle(response);
    return std::nullopt;
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& error) {
    return local_error(ErrorKind::internal,
                       std::string("a message could not be read: ") + error.what());
  }
}

void ScoreStream::Exchange::handle(const detail::wire::ScoreResponse& response) {
  using detail::wire::ScoreResponse;
  std::optional<LiveReport> live;
  {
    const Lock lock = monitor_.lock();
    switch (response.message_case()) {
      case ScoreResponse::kStarted: {
        const auto& limits = response.started().limits();
        state_.receive(
            detail::Started{response.started().server_version(), {limits.begin(), limits.end()}});
        break;
      }
      case ScoreResponse::kLive:
        live = detail::decode_live_report(response.live());
        state_.receive(*live);
        break;
      case ScoreResponse::kFinal:
        state_.receive(detail::decode_all(response.final().reports(), detail::decode_report));
        break;
      case ScoreResponse::MESSAGE_NOT_SET:
        raise(local_error(ErrorKind::internal,
                          "the server sent a message that this client does not know"));
    }
  }
  monitor_.notify();
  if (live) tell(*live);
}

void ScoreStream::Exchange::tell(const LiveReport& report) {
  if (!options_.live || !options_.live->on_report) return;
  try {
    options_.live->on_report(report);
  } catch (const std::exception& error) {
    raise(callback_failed(error.what()));
  } catch (...) {
    raise(callback_failed("an exception that is not a std::exception"));
  }
}

void ScoreStream::Exchange::end(const std::optional<Error>& error) {
  {
    const Lock lock = monitor_.lock();
    state_.end(error);
  }
  monitor_.notify();
}

Geometry ScoreStream::Exchange::geometry(Side side) const {
  return side == Side::truth ? options_.truth_geometry : options_.detection_geometry;
}

// --- the stream ----------------------------------------------------------------------------------

ScoreStream::ScoreStream(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {
  exchange_->await_start();
}

ScoreStream::ScoreStream(ScoreStream&&) noexcept = default;
ScoreStream& ScoreStream::operator=(ScoreStream&&) noexcept = default;
ScoreStream::~ScoreStream() = default;

std::string ScoreStream::server_version() const { return exchange_->started().server_version; }

std::map<std::string, std::int64_t> ScoreStream::limits() const {
  return exchange_->started().limits;
}

std::optional<LiveReport> ScoreStream::latest() const { return exchange_->latest(); }

void ScoreStream::send_truth(Frame frame) {
  std::vector<Frame> frames;
  frames.push_back(std::move(frame));
  exchange_->put(Side::truth, std::move(frames), true);
}

void ScoreStream::send(Frame frame) {
  std::vector<Frame> frames;
  frames.push_back(std::move(frame));
  exchange_->put(Side::detections, std::move(frames), true);
}

void ScoreStream::send_batch(Side side, std::vector<Frame> frames) {
  exchange_->put(side, std::move(frames), false);
}

std::optional<LiveReport> ScoreStream::next_live_report() { return exchange_->next_report(); }

std::vector<Report> ScoreStream::finish(std::optional<Duration> timeout) {
  return exchange_->finish(timeout);
}

void ScoreStream::cancel() { exchange_->cancel(); }

}  // namespace vidscore

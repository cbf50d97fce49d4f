/// @file
/// Settings of streams and connections.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "vidscore/errors.h"
#include "vidscore/reports.h"

namespace vidscore {

/// What happens to the caller if the queue is full.
enum class Policy {
  block,  ///< Sending waits for room, at most Batching::block_timeout.
  raise,  ///< Sending throws BackPressureError at once.
};

/// How frames are batched into messages, and how many may wait.
///
/// A frame is sent at most `batch_interval` after it was given, unless the server accepts no more;
/// then frames wait in the queue. A frame or batch enters the queue if it fits or the queue is
/// empty, so that memory is bounded by the queue and one batch of the caller.
struct Batching {
  std::size_t batch_frames = 256;       ///< Maximum frames of a message.
  std::size_t batch_bytes = 1u << 20u;  ///< Maximum bytes of a message, unless one frame is larger.
  Duration batch_interval = std::chrono::milliseconds(100);  ///< Longest wait for others.
  std::size_t queue_frames = 4096;       ///< Maximum frames that wait to be sent, of both sides.
  std::size_t queue_bytes = 64u << 20u;  ///< Maximum bytes that wait to be sent.
  Policy policy = Policy::block;         ///< What happens if the queue is full.
  /// Longest time that Policy::block waits before it throws BackPressureError; nullopt: no limit.
  std::optional<Duration> block_timeout = std::chrono::seconds(30);
};

/// When live reports are sent, and who gets them.
///
/// A report is sent when either interval has passed. It goes to `on_report` and is kept, with the
/// last `keep_reports` ones, for ScoreStream::next_live_report.
struct Live {
  std::int64_t every_frames = 0;  ///< Frames of both sides since the last report; 0: not so.
  std::optional<Duration> every;  ///< Time since the last report; nullopt: not so.
  bool summary_only = false;      ///< Whether to leave out rows of single sequences and curves.
  std::size_t keep_reports = 16;  ///< Maximum reports that wait; older ones are dropped.
  /// Called with each report, on the stream's reading thread: it should be quick. It must not
  /// destroy the stream or call `finish`. If it throws, the stream ends with CallbackError.
  std::function<void(const LiveReport&)> on_report;
};

/// An encrypted connection; all files are PEM.
struct Tls {
  std::string root_certificates;  ///< File of the authorities to trust; empty: the system's own.
  std::string certificate;        ///< File of this client's certificate chain; empty: none.
  std::string private_key;        ///< File of its private key.
  std::string server_name;        ///< Name in the server's certificate; empty: that of the address.
};

/// How silent connections are detected, because some networks drop connections silently.
///
/// While a call is open over a silent connection, the server is pinged. A connection without an
/// answer is replaced by a new one.
struct Keepalive {
  /// Silence after which the server is pinged; at least 10 s, because servers disconnect clients
  /// that ping more often.
  Duration interval = std::chrono::seconds(20);
  Duration timeout = std::chrono::seconds(10);  ///< Time to wait for its answer.
};

/// How often and how long to try again after a break; each wait is twice the one before. If the
/// server gives a delay, no wait is shorter.
struct Retry {
  Duration initial = std::chrono::milliseconds(200);  ///< Wait before the second try; above 0.
  Duration maximum = std::chrono::seconds(10);        ///< Maximum time between two tries.
  /// Time without progress after which the last error is thrown; nullopt: never.
  std::optional<Duration> give_up_after = std::chrono::seconds(600);
};

/// How frames of a submission are kept until the server has acknowledged them.
///
/// Sent but unacknowledged frames are kept to be sent again after a break, so that memory is
/// bounded by this window and the queue of Batching.
struct Delivery {
  std::size_t window_frames = 4096;       ///< Unacknowledged frames at which no batch is sent.
  std::size_t window_bytes = 64u << 20u;  ///< Bytes of unacknowledged frames, likewise.
  Duration acknowledge_timeout = std::chrono::seconds(30);  ///< Silence that is a break.
  /// Longest time that closing the stream, or destroying it, waits for frames to become durable
  /// before it drops them.
  Duration close_timeout = std::chrono::seconds(120);
  Retry retry;         ///< What happens after a break.
  bool unary = false;  ///< Whether each batch is a separate call, for proxies without streams.
  /// Called with the stream's number of durable frames whenever it has grown, on the stream's own
  /// thread: it should be quick. It must not destroy the stream or wait for it by `flush`, `close`
  /// or `seal`. If it throws, the stream ends with CallbackError.
  std::function<void(std::uint64_t)> on_acknowledged;
};

}  // namespace vidscore

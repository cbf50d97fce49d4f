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

/// What a full queue does to the caller.
enum class Policy {
  block,  ///< Sending waits for room, at most Batching::block_timeout.
  raise,  ///< Sending throws BackPressureError at once.
};

/// How frames are put together into messages, and how many may wait.
///
/// A frame is on its way `batch_interval` after it was given at the latest, unless the server takes
/// no more; then frames wait in the queue. A frame or batch enters the queue where it fits or the
/// queue is empty, so memory is bounded by the queue and one batch of the caller's.
struct Batching {
  std::size_t batch_frames = 256;       ///< Most frames of a message.
  std::size_t batch_bytes = 1u << 20u;  ///< Most bytes of a message, unless one frame is larger.
  Duration batch_interval = std::chrono::milliseconds(100);  ///< Longest wait for others.
  std::size_t queue_frames = 4096;       ///< Most frames that wait to be sent, of both sides.
  std::size_t queue_bytes = 64u << 20u;  ///< Most bytes that wait to be sent.
  Policy policy = Policy::block;         ///< What happens where the queue is full.
  /// Longest time that Policy::block waits before it throws BackPressureError; nullopt: no limit.
  std::optional<Duration> block_timeout = std::chrono::seconds(30);
};

/// When live reports are wanted, and where they go.
///
/// A report comes when either interval has passed. It goes to `on_report` and is kept, with the
/// last `keep_reports` ones, for ScoreStream::next_live_report.
struct Live {
  std::int64_t every_frames = 0;  ///< Frames of both sides since the last report; 0: not so.
  std::optional<Duration> every;  ///< Time since the last report; nullopt: not so.
  bool summary_only = false;      ///< Whether to leave out rows of single sequences and curves.
  std::size_t keep_reports = 16;  ///< Reports that wait for their reader; older ones are dropped.
  /// Called with each report, on the stream's reading thread: it should be quick. It must not
  /// destroy the stream or call `finish`. If it throws, the stream ends with CallbackError.
  std::function<void(const LiveReport&)> on_report;
};

/// An encrypted connection; all files are PEM.
struct Tls {
  std::string root_certificates;  ///< File of the authorities to trust; empty: the system's own.
  std::string certificate;        ///< File of this client's certificate chain; empty: none.
  std::string private_key;        ///< File of its private key.
  std::string server_name;        ///< Name of the certificate; empty: the one of the address.
};

/// How a connection is found out that has gone silent, as some networks drop them.
///
/// While a call is open over a connection of which nothing is heard, the server is asked whether it
/// is still there. A connection over which no answer comes is given up for a new one.
struct Keepalive {
  /// Time without a word from the server after which it is asked; at least 10 s: a server shuts out
  /// clients that ask more often.
  Duration interval = std::chrono::seconds(20);
  Duration timeout = std::chrono::seconds(10);  ///< Time that it has to answer.
};

/// How often and how long to try again after a break; each wait is twice the one before, and none
/// is shorter than the server says.
struct Retry {
  Duration initial = std::chrono::milliseconds(200);  ///< Wait before the second try; above 0.
  Duration maximum = std::chrono::seconds(10);        ///< Most time between two tries.
  /// Time without any progress after which the last error is thrown; nullopt: never.
  std::optional<Duration> give_up_after = std::chrono::seconds(600);
};

/// How frames of a submission are held until the server has acknowledged them.
///
/// Frames that are sent and not acknowledged are kept to be sent again after a break, so memory is
/// bounded by this window and the queue of Batching.
struct Delivery {
  std::size_t window_frames = 4096;       ///< Unacknowledged frames at which no batch is sent.
  std::size_t window_bytes = 64u << 20u;  ///< Bytes of these, likewise.
  Duration acknowledge_timeout = std::chrono::seconds(30);  ///< Silence that is a break.
  /// Longest time that closing the stream, or destroying it, waits for frames to become durable
  /// before it gives them up.
  Duration close_timeout = std::chrono::seconds(120);
  Retry retry;         ///< What happens after a break.
  bool unary = false;  ///< Whether each batch is a call of its own, for proxies without streams.
  /// Called with the number of durable frames of the stream whenever it has grown, on the stream's
  /// own thread: it should be quick. It must not destroy the stream or wait for it by `flush`,
  /// `close` or `seal`. If it throws, the stream ends with CallbackError.
  std::function<void(std::uint64_t)> on_acknowledged;
};

}  // namespace vidscore

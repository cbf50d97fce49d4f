/// @file
/// The client: everything begins here.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vidscore/errors.h"
#include "vidscore/evaluators.h"
#include "vidscore/frames.h"
#include "vidscore/hosting.h"
#include "vidscore/reports.h"
#include "vidscore/score_stream.h"
#include "vidscore/settings.h"
#include "vidscore/specification.h"
#include "vidscore/submission_stream.h"
#include "vidscore/submissions.h"
#include "vidscore/version.h"

/// The client of vidscore, the evaluation server for video detection benchmarks.
namespace vidscore {

/// How a client reaches its server.
struct ClientOptions {
  std::optional<Tls> tls;  ///< Certificates of an encrypted connection; nullopt: plain.
  std::string token;       ///< Sent with each call as `authorization: Bearer`; empty: none.
  Duration timeout = std::chrono::seconds(10);  ///< Timeout of a call, and of opening a stream.
  Keepalive keepalive;                          ///< How silent connections are detected.
  bool allow_plaintext_token = false;           ///< Whether to send the token unencrypted.
};

/// Whether a server accepts calls, by the standard health protocol.
enum class Health {
  unknown,          ///< Unspecified.
  serving,          ///< It does.
  not_serving,      ///< It does not.
  service_unknown,  ///< It does not know the service.
};

/// Description of a server.
struct ServerInfo {
  std::string version;                ///< Its version.
  std::string oldest_client_version;  ///< Oldest client version that it works with.
  std::string newest_client_version;  ///< Newest client version that it works with.
  std::optional<Time> time;           ///< Time of its clock.
  bool hosting = false;               ///< Whether it hosts benchmarks.
  bool draining = false;              ///< Whether it is about to stop.
};

/// A connection to a server, which ends with the last of its copies and streams.
///
/// It is cheap to copy, and copies share the connection; streams keep it open. Every method may be
/// called from any thread, and a client may have any number of streams open.
class Client {
 public:
  /// Make a client; the first call opens the connection. Connections to other machines use the
  /// proxies that the environment names (`https_proxy`, `no_proxy`).
  /// @param target Address: `host:port`, `[address]:port` or `unix:path`.
  /// @param options Encryption, token and deadline.
  /// @throws InputError if the address is invalid, a certificate cannot be read or is invalid, or
  ///   the token cannot be a header or would be sent unencrypted to another machine.
  explicit Client(const std::string& target, const ClientOptions& options = {});

  /// The server; it answers clients of any version.
  ServerInfo server() const;

  /// One hosted benchmark.
  /// @throws NotFoundError if there is none of that name.
  Benchmark benchmark(const std::string& benchmark) const;

  /// The hosted benchmarks that the caller may see.
  std::vector<Benchmark> benchmarks() const;

  /// All evaluators of the server, built-in ones first.
  std::vector<EvaluatorDescription> evaluators() const;

  /// One evaluator.
  /// @throws NotFoundError if the server has none of that name.
  EvaluatorDescription evaluator(const std::string& name) const;

  /// Whether the whole server, or the service of that full name, accepts calls.
  /// @throws NotFoundError if the server does not know the service.
  Health health(const std::string& service = "") const;

  /// Open a stream that takes truth and detections frame by frame.
  /// @throws InputError if an option is wrong.
  /// @throws InvalidArgumentError if the server refuses the configuration.
  /// @throws Error if the stream cannot be opened for another reason.
  ScoreStream score_stream(ScoreOptions options) const;

  /// Send all frames and wait for the final reports, one for each evaluator. Frames are sent as
  /// fast as the server accepts them, whatever the options' batching.
  /// @throws Error if the server refuses it or fails.
  std::vector<Report> score(ScoreOptions options, const std::vector<Frame>& truth,
                            const std::vector<Frame>& detections) const;

  /// Find or create a submission, and open one of its append streams: an older writer of it is
  /// excluded.
  /// @throws InputError if an option is wrong.
  /// @throws NotFoundError if there is no such benchmark.
  /// @throws QuotaExceededError if the team may have no more submissions.
  /// @throws SubmissionEndedError if it takes no more frames.
  SubmissionStream submit(SubmitOptions options) const;

  /// Submissions to hosted benchmarks.
  Submissions submissions() const;

  /// Submissions to a benchmark in rank order.
  /// @throws ConflictError if the policy does not release such a board.
  Leaderboard leaderboard(const LeaderboardQuery& query) const;

 private:
  std::shared_ptr<const detail::Connection> connection_;
};

}  // namespace vidscore

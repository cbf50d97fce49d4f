#include "vidscore/client.h"

#include <algorithm>
#include <utility>

#include "checks.h"
#include "connection.h"
#include "decoding.h"
#include "exchange.h"
#include "names.h"

namespace vidscore {
namespace {

constexpr char kEvaluatorPrefix[] = "evaluators/";

/// The frames of a message, from the first on.
std::vector<Frame> part(const std::vector<Frame>& frames, std::size_t first, std::size_t count) {
  const std::size_t begin = std::min(first, frames.size());
  const std::size_t end = std::min(first + count, frames.size());
  return {frames.begin() + static_cast<std::ptrdiff_t>(begin),
          frames.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

Client::Client(const std::string& target, const ClientOptions& options)
    : connection_(std::make_shared<const detail::Connection>(target, options)) {}

ServerInfo Client::server() const {
  const detail::wire::GetServerRequest request;
  const auto answer =
      connection_->answer<detail::wire::GetServerResponse>([&](auto* context, auto* response) {
        return connection_->servers()->GetServer(context, request, response);
      });
  const auto& server = answer.server();
  return {server.version(),
          server.oldest_client_version(),
          server.newest_client_version(),
          detail::decode_time(server.has_time(), server.time()),
          server.hosting(),
          server.draining()};
}

Benchmark Client::benchmark(const std::string& benchmark) const {
  detail::wire::GetBenchmarkRequest request;
  request.set_name(detail::benchmark_name(benchmark));
  const auto answer =
      connection_->answer<detail::wire::GetBenchmarkResponse>([&](auto* context, auto* response) {
        return connection_->benchmarks()->GetBenchmark(context, request, response);
      });
  return detail::decode_benchmark(answer.benchmark());
}

std::vector<Benchmark> Client::benchmarks() const {
  std::vector<Benchmark> found;
  detail::wire::ListBenchmarksRequest request;
  do {
    const auto page = connection_->answer<detail::wire::ListBenchmarksResponse>(
        [&](auto* context, auto* response) {
          return connection_->benchmarks()->ListBenchmarks(context, request, response);
        });
    for (const auto& each : page.benchmarks()) found.push_back(detail::decode_benchmark(each));
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return found;
}

std::vector<EvaluatorDescription> Client::evaluators() const {
  std::vector<EvaluatorDescription> found;
  detail::wire::ListEvaluatorsRequest request;
  do {
    const auto page = connection_->answer<detail::wire::ListEvaluatorsResponse>(
        [&](auto* context, auto* response) {
          return connection_->evaluators()->ListEvaluators(context, request, response);
        });
    for (const auto& evaluator : page.evaluators()) {
      found.push_back(detail::decode_evaluator(evaluator));
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return found;
}

EvaluatorDescription Client::evaluator(const std::string& name) const {
  detail::check_text("name", name);
  detail::wire::GetEvaluatorRequest request;
  request.set_name(kEvaluatorPrefix + name);
  const auto answer =
      connection_->answer<detail::wire::GetEvaluatorResponse>([&](auto* context, auto* response) {
        return connection_->evaluators()->GetEvaluator(context, request, response);
      });
  return detail::decode_evaluator(answer.evaluator());
}

Health Client::health(const std::string& service) const {
  const int status = connection_->health(service);
  return status >= 0 && status <= 3 ? static_cast<Health>(status) : Health::unknown;
}

ScoreStream Client::score_stream(ScoreOptions options) const {
  return ScoreStream(std::make_unique<ScoreStream::Exchange>(connection_, std::move(options)));
}

std::vector<Report> Client::score(ScoreOptions options, const std::vector<Frame>& truth,
                                  const std::vector<Frame>& detections) const {
  options.batching = Batching();
  options.batching.block_timeout = std::nullopt;  // it may take as long as the whole stream
  const std::size_t count = options.batching.batch_frames;
  ScoreStream stream = score_stream(std::move(options));
  // Alternate between both sides, so that few frames wait for the other side.
  for (std::size_t first = 0; first < std::max(truth.size(), detections.size()); first += count) {
    stream.send_batch(Side::truth, part(truth, first, count));
    stream.send_batch(Side::detections, part(detections, first, count));
  }
  return stream.finish();
}

SubmissionStream Client::submit(SubmitOptions options) const {
  return SubmissionStream(connection_, std::move(options));
}

Submissions Client::submissions() const { return Submissions(connection_); }

Leaderboard Client::leaderboard(const LeaderboardQuery& query) const {
  detail::check_text("evaluator", query.evaluator);
  detail::check_text("domain", query.domain.value_or(""));
  detail::check_text("label", query.label.value_or(""));
  Leaderboard board;
  detail::wire::GetLeaderboardRequest request;
  request.set_benchmark(detail::benchmark_name(query.benchmark));
  request.set_evaluator(query.evaluator);
  if (query.domain) request.set_domain(*query.domain);
  if (query.label) request.set_label(*query.label);
  do {
    const auto page = connection_->answer<detail::wire::GetLeaderboardResponse>(
        [&](auto* context, auto* response) {
          return connection_->benchmarks()->GetLeaderboard(context, request, response);
        });
    for (const auto& row : page.rows()) board.rows.push_back(detail::decode_row(row));
    board.ranking = {page.ranking().begin(), page.ranking().end()};
    board.truth_revision = page.truth_revision();
    board.newest_truth_revision = page.newest_truth_revision();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return board;
}

}  // namespace vidscore

#include "decoding.h"

#include <google/protobuf/util/json_util.h>

#include <array>

namespace vidscore {
namespace {

constexpr std::array<const char*, 9> kStateNames = {
    "unknown", "open",   "receiving", "sealed",   "waiting_for_truth",
    "scoring", "scored", "failed",    "cancelled"};

}  // namespace

bool has_ended(SubmissionState state) noexcept {
  return state == SubmissionState::scored || state == SubmissionState::failed ||
         state == SubmissionState::cancelled;
}

const char* to_string(SubmissionState state) noexcept {
  return kStateNames[static_cast<std::size_t>(state)];
}

const StreamInfo* Submission::find_stream(const std::string& stream) const noexcept {
  for (const StreamInfo& known : streams) {
    if (known.stream == stream) return &known;
  }
  return nullptr;
}

namespace detail {
namespace {

const std::string kEvaluatorPrefix = "evaluators/";

Value decode_value(const wire::Value& message) {
  switch (message.kind_case()) {
    case wire::Value::kCount:
      return static_cast<std::int64_t>(message.count());
    case wire::Value::kNumber:
      return message.number();
    case wire::Value::KIND_NOT_SET:
      break;
  }
  return {};
}

Row decode_score_row(const wire::Score& message) {
  Row row;
  if (message.has_domain()) row.domain = message.domain();
  if (message.has_label()) row.label = message.label();
  if (message.has_sequence()) row.sequence = message.sequence();
  row.measure = message.measure();
  row.value = decode_value(message.value());
  return row;
}

CurveColumn decode_column(const wire::CurveColumn& message) {
  return {message.name(), decode_all(message.values(), decode_value)};
}

Curve decode_curve(const wire::Curve& message) {
  Curve curve;
  if (message.has_domain()) curve.domain = message.domain();
  if (message.has_label()) curve.label = message.label();
  curve.name = message.name();
  curve.columns = decode_all(message.columns(), decode_column);
  return curve;
}

Warning decode_warning(const wire::Warning& message) {
  return {message.code(), message.message(), message.count()};
}

Measure decode_measure(const wire::Measure& message) {
  Measure measure;
  measure.name = message.name();
  measure.description = message.description();
  measure.unit = message.unit();
  if (message.has_minimum()) measure.minimum = message.minimum();
  if (message.has_maximum()) measure.maximum = message.maximum();
  if (message.direction() == wire::DIRECTION_HIGHER) measure.direction = Direction::higher;
  if (message.direction() == wire::DIRECTION_LOWER) measure.direction = Direction::lower;
  measure.averaging = message.averaging();
  return measure;
}

std::vector<Geometry> decode_geometries(const google::protobuf::RepeatedField<int>& numbers) {
  std::vector<Geometry> geometries;
  for (const int number : numbers) {
    if (const auto geometry = decode_geometry(number)) geometries.push_back(*geometry);
  }
  return geometries;
}

std::string decode_struct(const google::protobuf::Struct& message) {
  std::string json;
  const auto written = google::protobuf::util::MessageToJsonString(message, &json);
  return written.ok() ? json : "{}";
}

/// A time; nullopt for one that the system's clock cannot count, such as one in the year 9999.
SubmissionState decode_state(int number) {
  const bool known = number > 0 && number < static_cast<int>(kStateNames.size());
  return known ? static_cast<SubmissionState>(number) : SubmissionState::unknown;
}

}  // namespace

std::uint64_t natural(std::int64_t number) {
  return number < 0 ? 0 : static_cast<std::uint64_t>(number);
}

std::optional<Geometry> decode_geometry(int number) {
  switch (number) {
    case wire::GEOMETRY_POINT:
      return Geometry::point;
    case wire::GEOMETRY_BOX:
      return Geometry::box;
    case wire::GEOMETRY_QUADRILATERAL:
      return Geometry::quadrilateral;
    default:
      return std::nullopt;
  }
}

Report decode_report(const wire::Report& message) {
  Report report;
  report.evaluator = message.evaluator();
  report.version = message.version();
  report.parameters = decode_parameters(message.parameters());
  report.truth_digest = message.truth_digest();
  report.detections_digest = message.detections_digest();
  report.software = {message.software().begin(), message.software().end()};
  report.specification = decode_specification(message.specification());
  report.scores = decode_all(message.scores(), decode_score_row);
  report.curves = decode_all(message.curves(), decode_curve);
  report.warnings = decode_all(message.warnings(), decode_warning);
  if (message.has_preset()) report.preset = message.preset();
  return report;
}

LiveReport decode_live_report(const wire::LiveReport& message) {
  const wire::Coverage& coverage = message.coverage();
  return {decode_all(message.reports(), decode_report),
          {coverage.paired_frames(), coverage.frames_waiting_for_detections(),
           coverage.frames_waiting_for_truth()}};
}

EvaluatorDescription decode_evaluator(const wire::Evaluator& message) {
  EvaluatorDescription evaluator;
  const bool prefixed = message.name().rfind(kEvaluatorPrefix, 0) == 0;
  evaluator.name = message.name().substr(prefixed ? kEvaluatorPrefix.size() : 0);
  evaluator.version = message.version();
  evaluator.title = message.title();
  evaluator.task = message.task();
  evaluator.parameters_schema = decode_struct(message.parameters_schema());
  evaluator.measures = decode_all(message.measures(), decode_measure);
  evaluator.ranking = {message.ranking().begin(), message.ranking().end()};
  evaluator.truth_geometries = decode_geometries(message.truth_geometries());
  evaluator.detection_geometries = decode_geometries(message.detection_geometries());
  evaluator.uses_confidences = message.uses_confidences();
  evaluator.needs_tracks = message.needs_tracks();
  return evaluator;
}

StreamInfo decode_stream(const wire::StreamInfo& message) {
  return {message.stream(), message.epoch(), natural(message.next_offset())};
}

Submission decode_submission(const wire::Submission& message) {
  Submission submission;
  submission.name = message.name();
  submission.team = message.team();
  submission.title = message.title();
  submission.state = decode_state(message.state());
  submission.state_reason = message.state_reason();
  submission.state_message = message.state_message();
  submission.state_time = decode_time(message.has_state_time(), message.state_time());
  submission.create_time = decode_time(message.has_create_time(), message.create_time());
  submission.seal_time = decode_time(message.has_seal_time(), message.seal_time());
  submission.frame_count = natural(message.frame_count());
  submission.streams = decode_all(message.streams(), decode_stream);
  submission.revision = message.revision();
  submission.warnings = {message.warnings().begin(), message.warnings().end()};
  return submission;
}

std::optional<Time> decode_time(bool present, const google::protobuf::Timestamp& message) {
  constexpr std::int64_t kMostSeconds = 9'000'000'000;
  if (!present || message.seconds() > kMostSeconds || message.seconds() < -kMostSeconds) {
    return std::nullopt;
  }
  const auto since_epoch =
      std::chrono::seconds(message.seconds()) + std::chrono::nanoseconds(message.nanos());
  return Time(std::chrono::duration_cast<Time::duration>(since_epoch));
}

Benchmark decode_benchmark(const wire::Benchmark& message) {
  Benchmark benchmark;
  benchmark.name = message.name().substr(message.name().rfind('/') + 1);
  benchmark.title = message.specification().title();
  for (const auto& evaluator : message.specification().evaluators()) {
    benchmark.evaluators.push_back(evaluator.name());
  }
  benchmark.truth_geometry = decode_geometry(message.truth_geometry());
  benchmark.detection_geometry = decode_geometry(message.detection_geometry());
  benchmark.open_time = decode_time(message.has_open_time(), message.open_time());
  benchmark.close_time = decode_time(message.has_close_time(), message.close_time());
  benchmark.create_time = decode_time(message.has_create_time(), message.create_time());
  benchmark.update_time = decode_time(message.has_update_time(), message.update_time());
  return benchmark;
}

SubmissionScore decode_score(const wire::SubmissionScore& message) {
  SubmissionScore score;
  score.name = message.name();
  score.create_time = decode_time(message.has_create_time(), message.create_time());
  score.truth_revision = message.truth_revision();
  score.report = decode_report(message.report());
  score.partial = message.partial();
  score.current = message.current();
  return score;
}

SubmissionUpdate decode_update(const wire::WatchSubmissionResponse& message) {
  return {decode_submission(message.submission()), decode_all(message.scores(), decode_score)};
}

LeaderboardRow decode_row(const wire::LeaderboardRow& message) {
  LeaderboardRow row;
  row.rank = message.rank();
  row.team = message.team();
  row.submission = message.submission();
  row.title = message.title();
  row.seal_time = decode_time(message.has_seal_time(), message.seal_time());
  for (const wire::LeaderboardScore& score : message.scores()) {
    row.scores[score.measure()] =
        score.has_value() ? std::optional<double>(score.value()) : std::nullopt;
  }
  row.truth_revision = message.truth_revision();
  row.evaluator_version = message.evaluator_version();
  row.apart = message.apart();
  return row;
}

}  // namespace detail
}  // namespace vidscore

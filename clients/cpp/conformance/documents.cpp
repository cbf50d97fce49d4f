#include "documents.h"

namespace {

Json text_or_null(const std::optional<std::string>& text) {
  return text ? Json(*text) : Json(nullptr);
}

Json value_of(const vidscore::Value& value) {
  if (const auto* count = std::get_if<std::int64_t>(&value)) return *count;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return nullptr;
}

Json document_of(const vidscore::Row& row) {
  static constexpr const char* kKinds[] = {"undefined", "count", "number"};
  return {{"domain", text_or_null(row.domain)},     {"label", text_or_null(row.label)},
          {"sequence", text_or_null(row.sequence)}, {"measure", row.measure},
          {"value", value_of(row.value)},           {"kind", kKinds[row.value.index()]}};
}

Json document_of(const vidscore::CurveColumn& column) {
  Json values = Json::array();
  for (const vidscore::Value& value : column.values) values.push_back(value_of(value));
  return {{"name", column.name}, {"values", values}};
}

Json document_of(const vidscore::Curve& curve) {
  Json columns = Json::array();
  for (const vidscore::CurveColumn& column : curve.columns) columns.push_back(document_of(column));
  return {{"name", curve.name},
          {"domain", text_or_null(curve.domain)},
          {"label", text_or_null(curve.label)},
          {"columns", columns}};
}

Json document_of(const vidscore::Warning& warning) {
  return {{"code", warning.code}, {"message", warning.message}, {"count", warning.count}};
}

Json document_of(const vidscore::StreamInfo& stream) {
  return {{"stream", stream.stream}, {"epoch", stream.epoch}, {"next_offset", stream.next_offset}};
}

Json document_of(const vidscore::FieldViolation& violation) {
  return {{"field", violation.field}, {"description", violation.description}};
}

template <typename Entries>
Json listed(const Entries& entries) {
  Json documents = Json::array();
  for (const auto& entry : entries) documents.push_back(document_of(entry));
  return documents;
}

}  // namespace

Json document_of(const vidscore::Error& error) {
  return {{"error",
           {{"kind", to_string(error.kind())},
            {"code", error.code()},
            {"reason", error.reason()},
            {"message", error.message()},
            {"retryable", error.is_retryable()},
            {"violations", listed(error.violations())},
            {"violation_count", error.violation_count()},
            {"metadata", Json(error.metadata())}}}};
}

Json document_of(const vidscore::EvaluatorDescription& evaluator) {
  Json measures = Json::array();
  for (const vidscore::Measure& measure : evaluator.measures) measures.push_back(measure.name);
  return {{"name", evaluator.name},
          {"version", evaluator.version},
          {"title", evaluator.title},
          {"measures", measures}};
}

Json document_of(const vidscore::Report& report) {
  Json parameters = Json::object();
  for (const auto& [name, value] : report.parameters) {
    parameters[name] = std::visit([](const auto& known) { return Json(known); }, value);
  }
  return {{"evaluator", report.evaluator},
          {"version", report.version},
          {"parameters", parameters},
          {"truth_digest", report.truth_digest},
          {"detections_digest", report.detections_digest},
          {"scores", listed(report.scores)},
          {"curves", listed(report.curves)},
          {"warnings", listed(report.warnings)}};
}

Json document_of(const vidscore::LiveReport& live) {
  return {{"paired_frames", live.coverage.paired_frames},
          {"frames_waiting_for_detections", live.coverage.frames_waiting_for_detections},
          {"frames_waiting_for_truth", live.coverage.frames_waiting_for_truth}};
}

Json document_of(const vidscore::SubmissionScore& score) {
  return {{"partial", score.partial},
          {"current", score.current},
          {"report", document_of(score.report)}};
}

Json document_of(const vidscore::Submission& submission) {
  return {{"name", submission.name},
          {"team", submission.team},
          {"title", submission.title},
          {"state", to_string(submission.state)},
          {"state_reason", submission.state_reason},
          {"frame_count", submission.frame_count},
          {"streams", listed(submission.streams)},
          {"warnings", submission.warnings}};
}

Json document_of(const vidscore::LeaderboardRow& row) {
  Json values = Json::object();
  for (const auto& [measure, value] : row.scores) {
    values[measure] = value ? Json(*value) : Json(nullptr);
  }
  return {
      {"rank", row.rank}, {"team", row.team}, {"submission", row.submission}, {"values", values}};
}

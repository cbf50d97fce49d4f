/// @file
/// Reports: scores with everything needed to interpret them.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "vidscore/specification.h"

namespace vidscore {

/// A score or a coordinate of a curve: a count, a number, or nothing if it is undefined.
using Value = std::variant<std::monostate, std::int64_t, double>;

/// A value as a number; nullopt if it is undefined.
std::optional<double> as_number(const Value& value) noexcept;

/// One score with its dimensions; nullopt stands for all.
struct Row {
  std::optional<std::string> domain;    ///< Domain.
  std::optional<std::string> label;     ///< Label.
  std::optional<std::string> sequence;  ///< Sequence.
  std::string measure;                  ///< Name of the measure.
  Value value;                          ///< The score.
};

/// One coordinate of every point of a curve.
struct CurveColumn {
  std::string name;           ///< Name of the coordinate.
  std::vector<Value> values;  ///< Its value at each point.
};

/// Points in order.
struct Curve {
  std::optional<std::string> domain;  ///< Domain; nullopt for all.
  std::optional<std::string> label;   ///< Label; nullopt for all.
  std::string name;                   ///< Name of the curve.
  std::vector<CurveColumn> columns;   ///< Coordinates, column by column, all of one length.
};

/// A doubt for the reader of the scores.
struct Warning {
  std::string code;        ///< Stable code, lower case with underscores.
  std::string message;     ///< One sentence.
  std::int64_t count = 0;  ///< How often it occurs.
};

/// Scores of one evaluator.
struct Report {
  std::string evaluator;                        ///< Name of the evaluator.
  std::string version;                          ///< Its version.
  Parameters parameters;                        ///< All parameters with the values that were used.
  std::string truth_digest;                     ///< Fingerprint of the truth.
  std::string detections_digest;                ///< Fingerprint of the detections.
  std::map<std::string, std::string> software;  ///< Versions on which the last bits may depend.
  Specification specification;                  ///< Specification under which it was scored.
  std::vector<Row> scores;                      ///< All scores.
  std::vector<Curve> curves;                    ///< All curves.
  std::vector<Warning> warnings;                ///< All warnings.
  std::optional<std::string> preset;            ///< Preset of the evaluator; nullopt: of none.

  /// One score: a measure of a domain, a label and a sequence, each nullopt for all; nullptr if the
  /// report has no such row.
  const Row* find(const std::string& measure,
                  const std::optional<std::string>& domain = std::nullopt,
                  const std::optional<std::string>& label = std::nullopt,
                  const std::optional<std::string>& sequence = std::nullopt) const noexcept;
};

/// How far both sides have come.
struct Coverage {
  std::int64_t paired_frames = 0;                  ///< Number of frames that both sides have sent.
  std::int64_t frames_waiting_for_detections = 0;  ///< Truth frames without received detections.
  std::int64_t frames_waiting_for_truth = 0;       ///< Detection frames without received truth.
};

/// Scores over exactly the frames that both sides have sent.
struct LiveReport {
  std::vector<Report> reports;  ///< A report for each evaluator, in the requested order.
  Coverage coverage;            ///< How far both sides have come.
};

}  // namespace vidscore

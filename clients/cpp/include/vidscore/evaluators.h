/// @file
/// Descriptions of a server's evaluators.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vidscore/frames.h"

namespace vidscore {

/// Which values of a measure are better.
enum class Direction {
  none,    ///< The measure alone says nothing about quality.
  higher,  ///< Higher is better.
  lower,   ///< Lower is better.
};

/// One score that an evaluator reports.
struct Measure {
  std::string name;                       ///< Name in reports.
  std::string description;                ///< Its meaning, in one sentence.
  std::string unit;                       ///< Unit, such as `count`, `ratio`, `px` or `px^2`.
  std::optional<double> minimum;          ///< Lower bound; nullopt if there is none.
  std::optional<double> maximum;          ///< Upper bound; nullopt if there is none.
  Direction direction = Direction::none;  ///< Which values are better.
  std::string averaging;                  ///< Over frames: `pooled`, `mean` or `median`.
};

/// The rules of one benchmark protocol or criterion, as a server has them.
struct EvaluatorDescription {
  std::string name;                            ///< Name by which it is chosen.
  std::string version;                         ///< Increases whenever a score may change.
  std::string title;                           ///< One line for lists.
  std::string task;                            ///< `detection` or `tracking`.
  std::string parameters_schema;               ///< JSON Schema of its parameters, as JSON.
  std::vector<Measure> measures;               ///< All measures that a report may have.
  std::vector<std::string> ranking;            ///< Measures that rank systems, first one first.
  std::vector<Geometry> truth_geometries;      ///< Shapes of the truth that can be sent.
  std::vector<Geometry> detection_geometries;  ///< Shapes of detections that can be sent.
  bool uses_confidences = false;               ///< Whether it uses confidences.
  bool needs_tracks = false;                   ///< Whether objects must have a track id.
};

}  // namespace vidscore

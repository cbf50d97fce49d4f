/// @file
/// What a server says about its evaluators.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "vidscore/frames.h"

namespace vidscore {

/// Which way a measure gets better.
enum class Direction {
  none,    ///< It says nothing about quality alone.
  higher,  ///< Higher is better.
  lower,   ///< Lower is better.
};

/// One score that an evaluator reports.
struct Measure {
  std::string name;                       ///< Name in reports.
  std::string description;                ///< What it says, in one sentence.
  std::string unit;                       ///< `count`, `ratio`, `px`, `px^2` and the like.
  std::optional<double> minimum;          ///< Least value; nullopt where there is none.
  std::optional<double> maximum;          ///< Greatest value; nullopt where there is none.
  Direction direction = Direction::none;  ///< Which way is better.
  std::string averaging;                  ///< Over frames: `pooled`, `mean` or `median`.
};

/// The rules of one benchmark protocol or criterion, as a server has them.
struct EvaluatorDescription {
  std::string name;                            ///< Name by which it is chosen.
  std::string version;                         ///< Goes up whenever a score may change.
  std::string title;                           ///< One line for lists.
  std::string task;                            ///< `detection` or `tracking`.
  std::string parameters_schema;               ///< JSON Schema of its parameters, as JSON.
  std::vector<Measure> measures;               ///< Every measure that may stand in a report.
  std::vector<std::string> ranking;            ///< Measures that rank systems, first one first.
  std::vector<Geometry> truth_geometries;      ///< Shapes of the truth that can be sent.
  std::vector<Geometry> detection_geometries;  ///< Shapes of detections that can be sent.
  bool uses_confidences = false;               ///< Whether confidences play a part.
  bool needs_tracks = false;                   ///< Whether objects must carry a track id.
};

}  // namespace vidscore

// The file of frames of a runner.

#pragma once

#include <vidscore/client.h>

#include <nlohmann/json.hpp>
#include <string>

using Json = nlohmann::ordered_json;

/// What to score, and how.
struct FramesFile {
  std::vector<vidscore::Evaluator> evaluators;
  vidscore::Specification specification;
  vidscore::Geometry truth_geometry = vidscore::Geometry::box;
  vidscore::Geometry detection_geometry = vidscore::Geometry::box;
  Json truth;       // frames are made one by one, so that a wrong one is reported in its turn
  Json detections;  // likewise
};

FramesFile read_frames(const std::string& path);

/// One frame from its JSON form; missing fields have their defaults.
vidscore::Frame frame_of(const Json& document);

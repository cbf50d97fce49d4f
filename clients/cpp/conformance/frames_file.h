// The file of frames that a runner is given.

#pragma once

#include <vidscore/client.h>

#include <nlohmann/json.hpp>
#include <string>

using Json = nlohmann::ordered_json;

/// What is to be scored, and how.
struct FramesFile {
  std::vector<vidscore::Evaluator> evaluators;
  vidscore::Specification specification;
  vidscore::Geometry truth_geometry = vidscore::Geometry::box;
  vidscore::Geometry detection_geometry = vidscore::Geometry::box;
  Json truth;       // frames are made one by one, so that a wrong one is told when its turn comes
  Json detections;  // likewise
};

FramesFile read_frames(const std::string& path);

/// One frame out of its JSON form; what is left out has its default.
vidscore::Frame frame_of(const Json& document);

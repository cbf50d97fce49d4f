#include "frames_file.h"

#include <fstream>

#include "arguments.h"

namespace {

vidscore::Geometry geometry_of(const std::string& name) {
  if (name == "point") return vidscore::Geometry::point;
  if (name == "box") return vidscore::Geometry::box;
  if (name == "quadrilateral") return vidscore::Geometry::quadrilateral;
  throw Misuse(name);
}

/// A part of a document; null if it is absent.
Json part(const Json& document, const char* name) { return document.value(name, Json()); }

vidscore::ParameterValue parameter_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number()) return value.get<double>();
  if (!value.empty() && value.front().is_string()) return value.get<std::vector<std::string>>();
  return value.get<std::vector<double>>();
}

vidscore::Evaluator evaluator_of(const Json& document) {
  vidscore::Evaluator evaluator(document.at("name").get<std::string>());
  const Json parameters = part(document, "parameters");
  for (const auto& [name, value] : parameters.items()) {
    evaluator.parameters.emplace_back(name, parameter_of(value));
  }
  return evaluator;
}

/// An integer; 64-bit integers are strings in the JSON form of a message.
std::int64_t whole_of(const Json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<std::int64_t>();
}

std::vector<vidscore::FrameRange> ranges_of(const Json& documents) {
  std::vector<vidscore::FrameRange> ranges;
  for (const Json& range : documents) {
    ranges.push_back(
        {whole_of(range.value("first", Json(0))), whole_of(range.value("last", Json(0)))});
  }
  return ranges;
}

vidscore::Domain domain_of(const Json& document) {
  vidscore::Domain domain{document.value("name", ""), std::nullopt};
  if (document.contains("classes")) {
    domain.classes = document["classes"].value("names", std::vector<std::string>());
  }
  return domain;
}

vidscore::Sequence sequence_of(const Json& document) {
  vidscore::Sequence sequence;
  sequence.domain = document.value("domain", "");
  sequence.name = document.value("name", "");
  if (document.contains("frameCount")) sequence.frame_count = whole_of(document["frameCount"]);
  if (document.contains("firstFrame")) sequence.first_frame = whole_of(document["firstFrame"]);
  if (document.contains("frames")) sequence.frames = ranges_of(part(document["frames"], "ranges"));
  sequence.dont_care_frames = ranges_of(part(document, "dontCareFrames"));
  if (document.contains("imageWidth")) sequence.image_width = document["imageWidth"];
  if (document.contains("imageHeight")) sequence.image_height = document["imageHeight"];
  return sequence;
}

/// A specification in the JSON form of its message.
vidscore::Specification specification_of(const Json& document) {
  vidscore::Specification specification;
  specification.title = document.value("title", "");
  for (const Json& entry : part(document, "evaluators")) {
    specification.evaluators.push_back(evaluator_of(entry));
  }
  for (const Json& entry : part(document, "domains")) {
    specification.domains.push_back(domain_of(entry));
  }
  for (const Json& entry : part(document, "sequences")) {
    specification.sequences.push_back(sequence_of(entry));
  }
  return specification;
}

vidscore::Mask mask_of(const Json& document) {
  const auto size = document.at("size").get<std::vector<std::uint32_t>>();
  if (document.contains("text")) {
    return vidscore::Mask::of_text(size.at(0), size.at(1), document["text"].get<std::string>());
  }
  return {size.at(0), size.at(1), document.at("runs").get<std::vector<std::uint32_t>>()};
}

vidscore::Object object_of(const Json& document) {
  auto object = vidscore::Object::of(document.at("coordinates").get<std::vector<double>>());
  object.label = document.value("label", "");
  object.confidence = document.value("confidence", 1.0);
  object.track_id = document.value("track_id", std::int64_t{-1});
  object.flags = document.value("flags", 0u);
  if (document.contains("mask")) object.mask = mask_of(document["mask"]);
  return object;
}

}  // namespace

FramesFile read_frames(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw Misuse("cannot read " + path);
  const Json document = Json::parse(stream);
  const Json& configuration = document.at("configuration");
  FramesFile file;
  for (const Json& entry : configuration.at("evaluators")) {
    file.evaluators.push_back(evaluator_of(entry));
  }
  file.specification = specification_of(configuration.value("specification", Json::object()));
  file.truth_geometry = geometry_of(configuration.at("truth_geometry"));
  file.detection_geometry = geometry_of(configuration.at("detection_geometry"));
  file.truth = document.at("truth");
  file.detections = document.at("detections");
  return file;
}

vidscore::Frame frame_of(const Json& document) {
  vidscore::Frame frame;
  frame.sequence = document.at("sequence");
  frame.number = document.at("frame");
  frame.domain = document.value("domain", "");
  frame.dont_care = document.value("dont_care", false);
  if (document.contains("time_s")) frame.time_s = document["time_s"].get<double>();
  for (const Json& object : document.at("objects")) frame.objects.push_back(object_of(object));
  return frame;
}

// Scores a file of detections against a file of truth, both in the generic CSV format.
//
//     score_file localhost:50051 f1 truth.csv detections.csv

#include <vidscore/client.h>

#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "table.h"

namespace {

using Fields = std::vector<std::string>;

/// The shape of a file's objects, and the columns of its coordinates.
struct Shape {
  vidscore::Geometry geometry;
  Fields columns;
};

const std::vector<Shape> kShapes = {
    {vidscore::Geometry::quadrilateral, {"x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"}},
    {vidscore::Geometry::box, {"x1", "y1", "x2", "y2"}},
    {vidscore::Geometry::point, {"x", "y"}}};

struct Contents {
  vidscore::Geometry geometry = vidscore::Geometry::box;
  std::vector<vidscore::Frame> frames;
};

/// The fields of a line; one in quotes may hold commas and doubled quotes (RFC 4180).
Fields split(const std::string& line, char separator) {
  Fields fields(1);
  bool quoted = false;
  for (const char sign : line) {
    if (sign == '"') {
      if (!quoted && !fields.back().empty()) fields.back() += '"';
      quoted = !quoted;
    } else if (sign == separator && !quoted) {
      fields.emplace_back();
    } else if (sign != '\r') {
      fields.back() += sign;
    }
  }
  return fields;
}

/// The fields of a row by the names of their columns; empty if there is no such column.
class Row {
 public:
  Row(const Fields& header, const Fields& fields) {
    for (std::size_t column = 0; column < header.size() && column < fields.size(); ++column) {
      fields_[header[column]] = fields[column];
    }
  }

  std::string text(const std::string& name) const {
    const auto found = fields_.find(name);
    return found == fields_.end() ? "" : found->second;
  }

  double number(const std::string& name, double otherwise) const {
    return text(name).empty() ? otherwise : std::stod(text(name));
  }

  bool flag(const std::string& name) const {
    for (const std::string& word : split(text("flags"), '|')) {
      if (word == name) return true;
    }
    return false;
  }

  vidscore::Object object(const Fields& columns) const {
    std::vector<double> coordinates;
    for (const std::string& column : columns) coordinates.push_back(std::stod(text(column)));
    auto object = vidscore::Object::of(coordinates);
    object.label = text("class");
    object.confidence = number("confidence", 1.0);
    if (!text("track_id").empty()) object.track_id = std::stoll(text("track_id"));
    if (flag("ignore")) object.flags |= vidscore::kIgnore;
    if (flag("crowd")) object.flags |= vidscore::kCrowd;
    if (flag("region")) object.flags |= vidscore::kRegion;
    if (flag("distractor")) object.flags |= vidscore::kDistractor;
    return object;
  }

 private:
  std::map<std::string, std::string> fields_;
};

const Shape& shape_of(const std::string& path, const Fields& header) {
  const Row columns(header, header);
  for (const Shape& shape : kShapes) {
    bool there = true;
    for (const std::string& column : shape.columns) there = there && !columns.text(column).empty();
    if (there) return shape;
  }
  throw std::runtime_error(path + ": no coordinates among the columns");
}

/// Read a file in the generic CSV format: named columns, a row for each object.
Contents read(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error(path + ": cannot be read");
  const Fields header = split(line, ',');
  const Shape& shape = shape_of(path, header);
  std::map<std::tuple<std::string, std::string, std::int64_t>, vidscore::Frame> frames;
  while (std::getline(file, line)) {
    const Row row(header, split(line, ','));
    if (row.text("frame").empty()) continue;
    const std::int64_t number = std::stoll(row.text("frame"));
    vidscore::Frame& frame = frames[{row.text("domain"), row.text("sequence"), number}];
    frame.domain = row.text("domain");
    frame.sequence = row.text("sequence");
    frame.number = number;
    frame.dont_care = frame.dont_care || row.flag("dont_care_frame");
    if (!row.text("time_s").empty()) frame.time_s = row.number("time_s", 0);
    // A row without coordinates only lists its frame.
    const bool has_object = !row.text(shape.columns.front()).empty();
    if (has_object) frame.objects.push_back(row.object(shape.columns));
  }
  Contents contents{shape.geometry, {}};
  for (auto& [key, frame] : frames) contents.frames.push_back(std::move(frame));
  return contents;
}

void score(const std::string& address, const std::string& evaluator, const std::string& truth_path,
           const std::string& detections_path) {
  const Contents truth = read(truth_path);
  const Contents detections = read(detections_path);
  vidscore::ScoreOptions options;
  options.evaluators = {evaluator};
  options.truth_geometry = truth.geometry;
  options.detection_geometry = detections.geometry;
  const vidscore::Client client(address);
  for (const auto& report : client.score(options, truth.frames, detections.frames)) {
    print_scores(report);
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    std::cerr << "usage: score_file ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv\n";
    return 2;
  }
  try {
    score(words[1], words[2], words[3], words[4]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

#include "encoding.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace vidscore::detail {
namespace {

constexpr std::uint32_t kDontCare = 1;

/// Each name once, in order of appearance.
template <typename Name>
class Table {
 public:
  /// The row of a name, which is added if it is new.
  std::uint32_t row(const Name& name) {
    const auto next = static_cast<std::uint32_t>(names_.size());
    const auto [place, added] = rows_.try_emplace(name, next);
    if (added) names_.push_back(name);
    return place->second;
  }

  const std::vector<Name>& names() const { return names_; }

 private:
  std::map<Name, std::uint32_t> rows_;
  std::vector<Name> names_;
};

using Key = std::pair<std::string, std::string>;

template <typename Column, typename Value>
void clear_if_all(Column* column, Value value) {
  const bool all = std::all_of(column->begin(), column->end(),
                               [value](const auto& entry) { return entry == value; });
  if (all) column->Clear();
}

void add_object(const Object& object, Table<std::string>* labels, wire::AnnotationBatch* message) {
  const double* first = object.coordinates.data();
  message->mutable_coordinates()->Add(first, first + object.coordinate_count);
  message->add_label_indices(labels->row(object.label));
  message->add_confidences(object.confidence);
  message->add_track_ids(object.track_id);
  message->add_object_flags(object.flags);
}

void add_frame(const Frame& frame, Table<Key>* sequences, wire::AnnotationBatch* message) {
  message->add_frame_sequences(sequences->row({frame.domain, frame.sequence}));
  message->add_frame_numbers(frame.number);
  message->add_frame_object_counts(static_cast<std::uint32_t>(frame.objects.size()));
  message->add_frame_flags(frame.dont_care ? kDontCare : 0);
  message->add_frame_times_s(frame.time_s.value_or(std::numeric_limits<double>::quiet_NaN()));
}

/// The masks of all objects; none if an object has none.
void add_masks(const std::vector<Frame>& frames, wire::AnnotationBatch* message) {
  for (const Frame& frame : frames) {
    for (const Object& object : frame.objects) {
      if (!object.mask) return;
    }
  }
  for (const Frame& frame : frames) {
    for (const Object& object : frame.objects) {
      message->add_mask_heights(object.mask->height);
      message->add_mask_widths(object.mask->width);
      message->add_mask_run_counts(static_cast<std::uint32_t>(object.mask->runs.size()));
      message->mutable_mask_runs()->Add(object.mask->runs.begin(), object.mask->runs.end());
    }
  }
}

}  // namespace

std::size_t frame_size(const Frame& frame) {
  std::size_t size = kFrameBytes;
  for (const Object& object : frame.objects) {
    size += kObjectBytes + 8 * object.coordinate_count;
    if (object.mask) size += kMaskBytes + kRunBytes * object.mask->runs.size();
  }
  return size;
}

void encode_frames(const std::vector<Frame>& frames, Geometry geometry,
                   wire::AnnotationBatch* message) {
  Table<Key> sequences;
  Table<std::string> labels;
  message->set_geometry(encode_geometry(geometry));
  for (const Frame& frame : frames) {
    add_frame(frame, &sequences, message);
    for (const Object& object : frame.objects) add_object(object, &labels, message);
  }
  for (const auto& [domain, sequence] : sequences.names()) {
    wire::SequenceKey* key = message->add_sequences();
    key->set_domain(domain);
    key->set_sequence(sequence);
  }
  for (const std::string& label : labels.names()) message->add_labels(label);
  add_masks(frames, message);
  clear_if_all(message->mutable_frame_flags(), 0u);
  const auto& times_s = message->frame_times_s();
  const bool timeless =
      std::all_of(times_s.begin(), times_s.end(), [](double time_s) { return std::isnan(time_s); });
  if (timeless) message->clear_frame_times_s();
  clear_if_all(message->mutable_label_indices(), 0u);
  clear_if_all(message->mutable_confidences(), 1.0);
  clear_if_all(message->mutable_track_ids(), -1);
  clear_if_all(message->mutable_object_flags(), 0u);
}

wire::Geometry encode_geometry(Geometry geometry) {
  switch (geometry) {
    case Geometry::point:
      return wire::GEOMETRY_POINT;
    case Geometry::box:
      return wire::GEOMETRY_BOX;
    case Geometry::quadrilateral:
      return wire::GEOMETRY_QUADRILATERAL;
  }
  return wire::GEOMETRY_UNSPECIFIED;
}

wire::ScoreRequest encode_configuration(const ScoreOptions& options) {
  wire::ScoreRequest request;
  wire::ScoreConfiguration* message = request.mutable_configuration();
  encode_specification(options.specification, options.evaluators, message->mutable_specification());
  message->set_truth_geometry(encode_geometry(options.truth_geometry));
  message->set_detection_geometry(encode_geometry(options.detection_geometry));
  if (options.live) {
    wire::LiveReporting* live = message->mutable_live_reporting();
    live->set_frame_interval(options.live->every_frames);
    live->set_summary_only(options.live->summary_only);
    if (options.live->every) {
      constexpr std::int64_t kBillion = 1'000'000'000;
      const std::int64_t nanoseconds = options.live->every->count();
      live->mutable_time_interval()->set_seconds(nanoseconds / kBillion);
      live->mutable_time_interval()->set_nanos(static_cast<int>(nanoseconds % kBillion));
    }
  }
  return request;
}

}  // namespace vidscore::detail

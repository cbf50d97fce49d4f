/// @file
/// Frames and objects.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vidscore {

/// Shape of objects.
enum class Geometry {
  point,          ///< Two coordinates: x, y.
  box,            ///< Four: x1, y1, x2, y2, two opposite corners of an upright box.
  quadrilateral,  ///< Eight: x1, y1, ..., x4, y4, four corners in order.
};

/// Number of coordinates of an object.
std::size_t arity(Geometry geometry) noexcept;

/// The name of a shape.
const char* to_string(Geometry geometry) noexcept;

/// The side of frames.
enum class Side {
  truth,       ///< The ground truth.
  detections,  ///< What a system detected.
};

/// Properties of an object, as bits of Object::flags.
enum ObjectFlag : std::uint32_t {
  kIgnore = 1,      ///< A don't-care object: no truth, and a detection of it is no false positive.
  kCrowd = 2,       ///< A group of objects under one outline.
  kRegion = 4,      ///< Not an object but an area in which nothing is scored.
  kDistractor = 8,  ///< An object of a class that systems may confuse with the scored one.
};

/// The pixels of an object in an image.
struct Mask {
  /// A mask from the compressed text that COCO's tools write for its runs.
  /// @throws InputError for any other text.
  static Mask of_text(std::uint32_t height, std::uint32_t width, const std::string& text);

  std::uint32_t height = 0;  ///< Height of the image in pixels.
  std::uint32_t width = 0;   ///< Width of the image in pixels.
  /// Lengths of alternating runs of pixels outside and inside the object, beginning outside, column
  /// after column; they fill the image.
  std::vector<std::uint32_t> runs = {};
};

/// One object of a frame; coordinates are pixels.
struct Object {
  /// An object that is a point.
  static Object point(double x, double y);
  /// An object in an upright box, by two opposite corners.
  static Object box(double x1, double y1, double x2, double y2);
  /// An object with four corners in order: x1, y1, ..., x4, y4.
  static Object quadrilateral(const std::array<double, 8>& corners);
  /// An object of 2, 4 or 8 coordinates, as a file or a detector of any shape gives them.
  /// @throws InputError for any other number of them.
  static Object of(const std::vector<double>& coordinates);

  std::array<double, 8> coordinates{};  ///< Its coordinates, of which the first are in use.
  std::size_t coordinate_count = 0;     ///< How many: 2, 4 or 8.
  std::string label;                    ///< Its label.
  double confidence = 1.0;              ///< Its confidence: the greater, the surer.
  std::int64_t track_id = -1;           ///< Its track id, or -1.
  std::uint32_t flags = 0;              ///< Bits of ObjectFlag; only for objects of the truth.
  std::optional<Mask> mask;             ///< Its pixels; sent if all objects of the frame have some.
};

/// One whole frame of one side; a frame without objects is sent, too.
struct Frame {
  std::string sequence;               ///< Name of the video.
  std::int64_t number = 0;            ///< Number of the frame.
  std::vector<Object> objects = {};   ///< Its objects.
  std::string domain = {};            ///< Domain of the video, if there are several.
  bool dont_care = false;             ///< Whether it is left out of all counts; for the truth.
  std::optional<double> time_s = {};  ///< Capture time, in seconds on any one clock.
};

}  // namespace vidscore

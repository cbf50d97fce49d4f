/// @file
/// Frames and objects: what is sent.

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

/// Coordinates that an object has.
std::size_t arity(Geometry geometry) noexcept;

/// The name of a shape.
const char* to_string(Geometry geometry) noexcept;

/// Which of the two inputs of a score.
enum class Side {
  truth,       ///< What is there.
  detections,  ///< What a system says is there.
};

/// What an object is besides an ordinary one, as bits of Object::flags.
enum ObjectFlag : std::uint32_t {
  kIgnore = 1,      ///< A don't-care object: no truth, and a detection of it is no false alarm.
  kCrowd = 2,       ///< A group of objects under one outline.
  kRegion = 4,      ///< Not an object but an area in which nothing is scored.
  kDistractor = 8,  ///< An object of a class that systems may confuse with the scored one.
};

/// The pixels of an object in an image.
struct Mask {
  /// A mask out of the compressed text that COCO's tools write of its runs.
  /// @throws InputError for any other text.
  static Mask of_text(std::uint32_t height, std::uint32_t width, const std::string& text);

  std::uint32_t height = 0;  ///< Height of the image in pixels.
  std::uint32_t width = 0;   ///< Width of the image in pixels.
  /// Pixels outside of the object and of it in turn, beginning with those outside, column after
  /// column; they fill the image.
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
  std::int64_t track_id = -1;           ///< Identity of its track, or -1.
  std::uint32_t flags = 0;              ///< Bits of ObjectFlag; of objects of the truth alone.
  std::optional<Mask> mask;             ///< Its pixels; sent where all objects of the frame have some.
};

/// One whole frame of one side; a frame without objects is sent, too.
struct Frame {
  std::string sequence;               ///< Name of the video.
  std::int64_t number = 0;            ///< Number of the frame.
  std::vector<Object> objects = {};   ///< Its objects.
  std::string domain = {};            ///< Domain of the video, where there is more than one.
  bool dont_care = false;             ///< Whether it is left out of every count; said of the truth.
  std::optional<double> time_s = {};  ///< When it was captured, in seconds on any one clock.
};

}  // namespace vidscore

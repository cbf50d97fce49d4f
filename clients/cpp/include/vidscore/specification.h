/// @file
/// Facts about a benchmark that the data cannot give.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace vidscore {

/// A value of an evaluator's parameter, of the type that the evaluator declares.
using ParameterValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>,
                                    std::vector<std::string>>;

/// Parameters by name, in the given order.
using Parameters = std::vector<std::pair<std::string, ParameterValue>>;

/// An evaluator with the parameters that differ from its defaults.
struct Evaluator {
  std::string name;       ///< Its name, as in Client::evaluators.
  Parameters parameters;  ///< Parameters; those left out have their defaults.

  Evaluator() = default;
  /// An evaluator by its name, and parameters if there are any.
  Evaluator(std::string chosen, Parameters values = {})
      : name(std::move(chosen)), parameters(std::move(values)) {}
  /// An evaluator by its name, and parameters if there are any.
  Evaluator(const char* chosen, Parameters values = {})
      : name(chosen), parameters(std::move(values)) {}
};

/// A domain: a group of videos.
struct Domain {
  std::string name;                                 ///< Its name.
  std::optional<std::vector<std::string>> classes;  ///< Scored; nullopt: the specification's.
};

/// Consecutive frames, both ends included.
struct FrameRange {
  std::int64_t first = 0;  ///< Number of the first frame.
  std::int64_t last = 0;   ///< Number of the last frame.
};

/// One video.
struct Sequence {
  std::string domain;                       ///< Domain; empty if there is only one.
  std::string name;                         ///< Its name within the domain.
  std::optional<std::int64_t> frame_count;  ///< Number of its frames, from `first_frame` on.
  std::int64_t first_frame = 0;             ///< Number of its first frame.
  /// Frames that are evaluated; nullopt: all of `frame_count` or, without that, those of the truth.
  std::optional<std::vector<FrameRange>> frames;
  std::vector<FrameRange> dont_care_frames;  ///< Frames that are left out of all counts.
  std::optional<std::int32_t> image_width;   ///< Width of the image in pixels.
  std::optional<std::int32_t> image_height;  ///< Height of the image in pixels.
};

/// A benchmark: its evaluators, domains and sequences.
struct Specification {
  std::string title;                  ///< Title for people.
  std::vector<Evaluator> evaluators;  ///< Evaluators that judge; each name once.
  std::vector<Domain> domains;        ///< Described domains.
  std::vector<Sequence> sequences;    ///< Described sequences.
  /// Classes that are scored in domains that list none; nullopt: those of the evaluator.
  std::optional<std::vector<std::string>> classes;
};

}  // namespace vidscore

// Frames of one sequence, for tests.

#pragma once

#include <vector>

#include "outbox.h"

namespace vidscore::testing {

/// A frame with a number of boxes.
inline Frame boxes(std::int64_t number, std::size_t count = 1) {
  return Frame{"a", number, std::vector<Object>(count, Object::box(1, 1, 2, 2)), "", false};
}

/// Frames of one box each, with the numbers from `first` up to but not including `last`.
inline std::vector<Frame> frames(std::int64_t first, std::int64_t last) {
  std::vector<Frame> made;
  for (std::int64_t number = first; number < last; ++number) made.push_back(boxes(number));
  return made;
}

inline detail::Item single(std::int64_t number, std::size_t count = 1) {
  return {{boxes(number, count)}, true};
}

inline detail::Item whole(std::int64_t first, std::int64_t last) {
  return {frames(first, last), false};
}

inline std::vector<std::int64_t> numbers(const std::vector<Frame>& given) {
  std::vector<std::int64_t> found;
  for (const Frame& frame : given) found.push_back(frame.number);
  return found;
}

/// The numbers from 0 up to but not including `count`.
inline std::vector<std::int64_t> count_to(std::int64_t count) { return numbers(frames(0, count)); }

}  // namespace vidscore::testing

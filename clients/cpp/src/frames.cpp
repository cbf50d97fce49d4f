#include "vidscore/frames.h"

#include <algorithm>

#include "failing.h"

namespace vidscore {
namespace {

template <typename Coordinates>
Object object_of(const Coordinates& coordinates) {
  Object object;
  std::copy(coordinates.begin(), coordinates.end(), object.coordinates.begin());
  object.coordinate_count = coordinates.size();
  return object;
}

}  // namespace

std::size_t arity(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::point:
      return 2;
    case Geometry::box:
      return 4;
    case Geometry::quadrilateral:
      return 8;
  }
  return 0;
}

const char* to_string(Geometry geometry) noexcept {
  switch (geometry) {
    case Geometry::point:
      return "point";
    case Geometry::box:
      return "box";
    case Geometry::quadrilateral:
      return "quadrilateral";
  }
  return "unknown";
}

Object Object::point(double x, double y) { return object_of(std::array<double, 2>{x, y}); }

Object Object::box(double x1, double y1, double x2, double y2) {
  return object_of(std::array<double, 4>{x1, y1, x2, y2});
}

Object Object::quadrilateral(const std::array<double, 8>& corners) { return object_of(corners); }

Object Object::of(const std::vector<double>& coordinates) {
  const std::size_t count = coordinates.size();
  if (count != 2 && count != 4 && count != 8) {
    detail::refuse("coordinates", detail::counted(count, "coordinate") + " per object",
                   "2, 4 or 8");
  }
  return object_of(coordinates);
}

}  // namespace vidscore

// The message of frames.

#include "encoding.h"

#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "checks.h"
#include "checksum.h"

namespace vidscore::testing {
namespace {

namespace wire = detail::wire;

wire::AnnotationBatch encode(const std::vector<Frame>& frames, Geometry geometry) {
  wire::AnnotationBatch message;
  detail::encode_frames(frames, geometry, &message);
  return message;
}

// The check value of CRC-32 in every catalogue of CRCs; of no byte it is 0.
TEST(Checksum, IsThatOfZlibGzipAndPng) {
  EXPECT_EQ(detail::crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(detail::crc32(""), 0u);
}

TEST(Encoding, HoldsFramesAndObjectsInTheirOrderWithTablesOfNames) {
  Object car = Object::point(1, 2);
  car.label = "Car";
  car.confidence = 0.5;
  car.track_id = 7;
  Object person = Object::point(3, 4);
  person.label = "Person";
  person.flags = kCrowd;
  const std::vector<Frame> frames = {Frame{"b", 5, {person, car}, "Tower", false},
                                     Frame{"a", 0, {}, "", true},
                                     Frame{"b", 6, {person}, "Tower", false}};
  wire::AnnotationBatch expected;
  expected.add_sequences()->set_domain("Tower");
  expected.mutable_sequences(0)->set_sequence("b");
  expected.add_sequences()->set_sequence("a");
  for (const char* label : {"Person", "Car"}) expected.add_labels(label);
  for (const int row : {0, 1, 0}) expected.add_frame_sequences(static_cast<unsigned>(row));
  for (const int number : {5, 0, 6}) expected.add_frame_numbers(number);
  for (const unsigned count : {2u, 0u, 1u}) expected.add_frame_object_counts(count);
  for (const unsigned bits : {0u, 1u, 0u}) expected.add_frame_flags(bits);
  expected.set_geometry(wire::GEOMETRY_POINT);
  for (const double value : {3.0, 4.0, 1.0, 2.0, 3.0, 4.0}) expected.add_coordinates(value);
  for (const unsigned row : {0u, 1u, 0u}) expected.add_label_indices(row);
  for (const double value : {1.0, 0.5, 1.0}) expected.add_confidences(value);
  for (const int track : {-1, 7, -1}) expected.add_track_ids(track);
  for (const unsigned bits : {2u, 0u, 2u}) expected.add_object_flags(bits);
  const auto found = encode(frames, Geometry::point);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(found, expected))
      << found.DebugString();
}

TEST(Encoding, LeavesOutColumnsOfDefaultsAlone) {
  const auto message = encode({Frame{"a", 0, {Object::box(0, 0, 1, 1)}, "", false}}, Geometry::box);
  ASSERT_EQ(message.labels_size(), 1);
  EXPECT_EQ(message.labels(0), "");
  EXPECT_EQ(message.label_indices_size() + message.confidences_size(), 0);
  EXPECT_EQ(message.track_ids_size() + message.object_flags_size(), 0);
  EXPECT_EQ(message.frame_flags_size() + message.frame_times_s_size(), 0);
}

TEST(Encoding, SendsTimesWithNoneForAFrameThatHasNone) {
  Frame timed{"a", 0, {}, "", false};
  timed.time_s = 1.5;
  const auto message = encode({timed, Frame{"a", 1, {}, "", false}}, Geometry::box);
  ASSERT_EQ(message.frame_times_s_size(), 2);
  EXPECT_EQ(message.frame_times_s(0), 1.5);
  EXPECT_TRUE(std::isnan(message.frame_times_s(1)));
}

Object masked(std::vector<std::uint32_t> runs) {
  Object object = Object::box(0, 0, 3, 2);
  object.mask = Mask{2, 3, std::move(runs)};
  return object;
}

// The vector of all clients: 480 by 640 pixels, as pycocotools writes them.
TEST(Masks, HaveTheRunsOfTheirText) {
  const Mask mask = Mask::of_text(480, 640, "32n0Vo0SOPRO[nZ9");
  EXPECT_EQ(mask.height, 480u);
  EXPECT_EQ(mask.width, 640u);
  EXPECT_EQ(mask.runs, (std::vector<std::uint32_t>{3, 2, 30, 1000, 1, 40, 306124}));
}

TEST(Masks, AreRefusedWhereATextIsNone) {
  for (const char* text : {"/", "p", "V", "\xc3\xa9", "O", "ooooooooo0", "00006O"}) {
    EXPECT_THROW(Mask::of_text(2, 3, text), InputError) << text;
  }
}

TEST(Encoding, HoldsMasksAsColumns) {
  const auto message = encode({Frame{"a", 0, {masked({1, 2, 3}), masked({0, 6})}}, Frame{"a", 1},
                               Frame{"a", 2, {masked({0, 6})}}},
                              Geometry::box);
  ASSERT_EQ(message.mask_heights_size(), 3);
  EXPECT_EQ(message.mask_heights(2), 2u);
  EXPECT_EQ(message.mask_widths(2), 3u);
  const auto& counts = message.mask_run_counts();
  EXPECT_EQ(std::vector<std::uint32_t>(counts.begin(), counts.end()),
            (std::vector<std::uint32_t>{3, 2, 2}));
  const auto& runs = message.mask_runs();
  EXPECT_EQ(std::vector<std::uint32_t>(runs.begin(), runs.end()),
            (std::vector<std::uint32_t>{1, 2, 3, 0, 6, 0, 6}));
}

TEST(Encoding, HasMasksOfAllObjectsOrOfNone) {
  const auto message =
      encode({Frame{"a", 0, {masked({6}), Object::box(0, 0, 1, 1)}}}, Geometry::box);
  EXPECT_EQ(message.mask_heights_size() + message.mask_runs_size(), 0);
}

TEST(Encoding, CountsTheBytesOfMasks) {
  const Frame plain{"a", 0, {Object::box(0, 0, 3, 2)}};
  const Frame frame{"a", 0, {masked({1, 2, 3})}};
  EXPECT_EQ(detail::frame_size(frame) - detail::frame_size(plain), 15u + 3u * 5u);
}

/// With columns of the longest encodings, apart from the tables of names.
TEST(Encoding, CountsNoFewerBytesThanAreSent) {
  Object object = Object::quadrilateral({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1});
  object.label = "x";
  object.confidence = 0.3;
  object.track_id = -7;
  object.flags = kDistractor;
  std::vector<Frame> frames;
  std::size_t counted = 0;
  for (std::int64_t number = 0; number < 3; ++number) {
    const std::int64_t large = (std::int64_t{1} << 62) + number;
    frames.push_back(Frame{"a", large, std::vector<Object>(200, object), "", true});
    frames.back().time_s = 0.1;
    counted += detail::frame_size(frames.back());
  }
  EXPECT_LE(encode(frames, Geometry::quadrilateral).ByteSizeLong(), counted);
}

TEST(Object, HasTwoFourOrEightCoordinates) {
  for (const std::size_t count : {2u, 4u, 8u}) {
    EXPECT_EQ(Object::of(std::vector<double>(count)).coordinate_count, count);
  }
  try {
    Object::of(std::vector<double>(3));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "coordinates: found 3 coordinates per object, expected 2, 4 or 8");
  }
}

TEST(Frame, IsRefusedWhereTheStreamHasAnotherShape) {
  const Frame frame{"a", 0, {Object::point(1, 2)}, "", false};
  EXPECT_NO_THROW(detail::check(frame, Geometry::point));
  EXPECT_THROW(detail::check(frame, Geometry::box), InputError);
}

TEST(Encoding, NeedsAnEvaluator) {
  EXPECT_THROW(detail::encode_configuration(ScoreOptions()), InputError);
}

}  // namespace
}  // namespace vidscore::testing

// From frames and specifications to the messages of the wire.

#pragma once

#include <vector>

#include "vidscore/frames.h"
#include "vidscore/score_stream.h"
#include "vidscore/specification.h"
#include "wire.h"

namespace vidscore::detail {

/// Bytes that a frame adds to a message, at most, without its objects.
inline constexpr std::size_t kFrameBytes = 24;

/// Bytes that an object adds besides its coordinates, at most: confidence 8, track id 10, label 5,
/// flags 1.
inline constexpr std::size_t kObjectBytes = 24;

/// Bytes that a mask adds without its runs, at most, and a run.
inline constexpr std::size_t kMaskBytes = 15;
inline constexpr std::size_t kRunBytes = 5;

/// Bytes of the message that a frame would make, at most, without its tables.
std::size_t frame_size(const Frame& frame);

/// Columns as a message: only the names in use, and no column that holds defaults alone. Equal
/// frames are equal bytes.
void encode_frames(const std::vector<Frame>& frames, Geometry geometry,
                   wire::AnnotationBatch* message);

/// A shape as the wire has it.
wire::Geometry encode_geometry(Geometry geometry);

/// A specification, with other evaluators in the place of its own where some are chosen.
void encode_specification(const Specification& specification, const std::vector<Evaluator>& chosen,
                          wire::BenchmarkSpec* message);

/// The first message of a scoring stream.
wire::ScoreRequest encode_configuration(const ScoreOptions& options);

}  // namespace vidscore::detail

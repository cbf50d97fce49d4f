// From frames and specifications to the messages of the wire.

#pragma once

#include <vector>

#include "vidscore/frames.h"
#include "vidscore/score_stream.h"
#include "vidscore/specification.h"
#include "wire.h"

namespace vidscore::detail {

/// Maximum bytes that a frame adds to a message, without its objects.
inline constexpr std::size_t kFrameBytes = 24;

/// Maximum bytes that an object adds besides its coordinates: confidence 8, track id 10, label 5,
/// flags 1.
inline constexpr std::size_t kObjectBytes = 24;

/// Maximum bytes that a mask adds without its runs, and that a run adds.
inline constexpr std::size_t kMaskBytes = 15;
inline constexpr std::size_t kRunBytes = 5;

/// Maximum bytes of the message that a frame would make, without its tables.
std::size_t frame_size(const Frame& frame);

/// Columns as a message: only the names in use, and no columns with only default values. Equal
/// frames give equal bytes.
void encode_frames(const std::vector<Frame>& frames, Geometry geometry,
                   wire::AnnotationBatch* message);

/// A shape on the wire.
wire::Geometry encode_geometry(Geometry geometry);

/// A specification, with the chosen evaluators, if any, instead of its own.
void encode_specification(const Specification& specification, const std::vector<Evaluator>& chosen,
                          wire::BenchmarkSpec* message);

/// The first message of a scoring stream.
wire::ScoreRequest encode_configuration(const ScoreOptions& options);

}  // namespace vidscore::detail

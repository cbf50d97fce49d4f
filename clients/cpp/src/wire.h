// Messages of the wire.

#pragma once

#include "vidscore/v1/annotations.pb.h"
#include "vidscore/v1/benchmark_service.pb.h"
#include "vidscore/v1/evaluator_service.pb.h"
#include "vidscore/v1/report.pb.h"
#include "vidscore/v1/scoring_service.pb.h"
#include "vidscore/v1/specification.pb.h"
#include "vidscore/v1/submission_service.pb.h"

namespace vidscore::detail {

namespace wire = ::vidscore::v1;

}  // namespace vidscore::detail

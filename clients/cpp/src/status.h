// Turns the status of a call into an error.

#pragma once

#include <grpcpp/support/status.h>

#include "vidscore/errors.h"

namespace vidscore::detail {

/// The error of a call that has failed.
Error error_of(const grpc::Status& status);

}  // namespace vidscore::detail

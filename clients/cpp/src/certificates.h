// Certificate files, checked when a client is created.

#pragma once

#include "vidscore/settings.h"

namespace vidscore::detail {

/// Refuse files that grpc refuses only at the first call, as if the server were out of reach.
/// Unreadable files are refused where they are read.
void check_certificates(const Tls& tls);

}  // namespace vidscore::detail

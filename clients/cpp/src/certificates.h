// Files of certificates, checked when a client is made.

#pragma once

#include "vidscore/settings.h"

namespace vidscore::detail {

/// Refuse files that grpc refuses at the first call alone, as a server that is out of reach. Those
/// that cannot be read are left to whoever reads them.
void check_certificates(const Tls& tls);

}  // namespace vidscore::detail

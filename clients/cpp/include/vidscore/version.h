/// @file
/// Version of this client.

#pragma once

namespace vidscore {

/// Version of this client.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace vidscore

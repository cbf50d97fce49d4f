/// @file
/// Version of this client.

#pragma once

namespace vidscore {

/// Version of this client.
inline constexpr char kVersion[] = "0.2.0";

}  // namespace vidscore

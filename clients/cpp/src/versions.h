// The versions of server and client that work together: at most one minor version apart.
//
// The server applies the same rule to its clients; this check covers older servers that do not.

#pragma once

#include <string>

namespace vidscore::detail {

/// Metadata of each call: version of this client.
inline constexpr char kClientVersionKey[] = "vidscore-client-version";

/// Trailing metadata of each call: version of the server.
inline constexpr char kServerVersionKey[] = "vidscore-server-version";

/// Refuse a server whose version a client does not work with; a text that is not a version is
/// accepted, as from proxies.
void check_server(const std::string& server, const std::string& client);

}  // namespace vidscore::detail

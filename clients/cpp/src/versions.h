// Which versions of server and client work together: one minor version may lie between them.
//
// The server holds its clients to the same rule; this side tells it where an older server does not.

#pragma once

#include <string>

namespace vidscore::detail {

/// Metadata of each call: version of this client.
inline constexpr char kClientVersionKey[] = "vidscore-client-version";

/// Trailing metadata of each call: version of the server.
inline constexpr char kServerVersionKey[] = "vidscore-server-version";

/// Refuse a server of a version that a client does not work with; a text that is no version is let
/// pass, as proxies may be.
void check_server(const std::string& server, const std::string& client);

}  // namespace vidscore::detail

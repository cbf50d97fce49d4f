// The versions of server and client that work together.

#include "versions.h"

#include <gtest/gtest.h>

#include "vidscore/errors.h"

namespace vidscore::testing {
namespace {

using detail::check_server;

TEST(Versions, WorkTogetherWhereAtMostOneMinorVersionLiesBetween) {
  for (const char* server : {"1.4.0", "1.5.9", "1.6.0", "1.5.0rc1", "1.5"}) {
    EXPECT_NO_THROW(check_server(server, "1.5.0")) << server;
  }
  for (const char* server : {"1.3.9", "1.7.0", "0.5.0", "2.5.0"}) {
    EXPECT_THROW(check_server(server, "1.5.0"), VersionError) << server;
  }
}

TEST(Versions, AreLetPassWhereTheyAreNone) {
  for (const char* server : {"", "nginx", "1", "1.", "v9.9.9", "9.9 (proxy)", "1234567.0"}) {
    EXPECT_NO_THROW(check_server(server, "1.5.0")) << server;
  }
}

TEST(Versions, AreToldWithWhatToUpdate) {
  try {
    check_server("1.9.0", "1.5.0");
    FAIL();
  } catch (const VersionError& error) {
    EXPECT_EQ(error.reason(), "VERSION_UNSUPPORTED");
    EXPECT_NE(error.message().find("update the client"), std::string::npos);
    EXPECT_EQ(error.metadata().at("server_version"), "1.9.0");
  }
}

}  // namespace
}  // namespace vidscore::testing

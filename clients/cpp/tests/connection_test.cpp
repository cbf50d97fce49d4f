// Checks of targets, tokens and certificates before anything is sent.

#include <gtest/gtest.h>

#include <fstream>

#include "vidscore/client.h"

namespace vidscore::testing {
namespace {

ClientOptions with_token(const std::string& token) {
  ClientOptions options;
  options.token = token;
  return options;
}

TEST(Client, TakesHostAndPortOrASocket) {
  for (const char* target :
       {"localhost:50051", "[::1]:50051", "dns:///scores.example:443", "unix:/tmp/s"}) {
    EXPECT_NO_THROW(Client{target}) << target;
  }
  for (const char* target : {"", "localhost", "localhost:", ":50051", "a:b", "a b:1", "a:70000",
                             "http://a:1", "https://a:1", "::1:1"}) {
    EXPECT_THROW(Client{target}, InputError) << target;
  }
}

TEST(Client, NeverSendsATokenUnencryptedToAnotherMachineUnlessAllowed) {
  for (const char* near : {"localhost:1", "127.0.0.2:1", "[::1]:1", "unix:/tmp/s"}) {
    EXPECT_NO_THROW(Client(near, with_token("secret"))) << near;
  }
  ClientOptions options = with_token("secret");
  try {
    Client("scores.example:1", options);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.message().rfind("token: found an unencrypted connection", 0), 0u);
    EXPECT_EQ(error.message().find("secret"), std::string::npos);
  }
  options.allow_plaintext_token = true;
  EXPECT_NO_THROW(Client("scores.example:1", options));
  options.allow_plaintext_token = false;
  options.tls = Tls();
  EXPECT_NO_THROW(Client("scores.example:1", options));
}

TEST(Client, TakesATokenOfPrintableAscii) {
  for (const char* token : {"a b", "a\n", "\xc3\xa4"}) {
    EXPECT_THROW(Client("localhost:1", with_token(token)), InputError);
  }
}

TEST(Client, NeedsCertificatesThatAreThereAndWhole) {
  ClientOptions missing;
  missing.tls = Tls();
  missing.tls->root_certificates = "/nowhere/ca.pem";
  ClientOptions half;
  half.tls = Tls();
  half.tls->certificate = "/nowhere/client.pem";
  EXPECT_THROW(Client("scores.example:1", missing), InputError);
  EXPECT_THROW(Client("scores.example:1", half), InputError);
}

TEST(Client, RefusesFilesThatAreNoCertificates) {
  const std::string junk = ::testing::TempDir() + "junk.pem";
  std::ofstream(junk) << "junk\n";
  ClientOptions options;
  for (const Tls& tls : {Tls{junk, "", "", ""}, Tls{"", junk, junk, ""}}) {
    options.tls = tls;
    try {
      const Client client("localhost:1", options);
      FAIL();
    } catch (const InputError& error) {
      EXPECT_NE(error.message().find("junk.pem without a certificate"), std::string::npos);
    }
  }
}

TEST(Client, RefusesTextsThatNoMessageCanHold) {
  const Client client("localhost:1");
  const std::string latin = "caf\xe9";
  ScoreOptions of_evaluator;
  of_evaluator.evaluators = {latin};
  ScoreOptions of_sequence;
  of_sequence.evaluators = {"f1"};
  of_sequence.specification.sequences.emplace_back().name = latin;
  LeaderboardQuery query;
  query.benchmark = "streets";
  query.label = latin;
  EXPECT_THROW(client.score_stream(of_evaluator), InputError);
  EXPECT_THROW(client.score_stream(of_sequence), InputError);
  EXPECT_THROW(client.benchmark(latin), InputError);
  EXPECT_THROW(client.evaluator(latin), InputError);
  EXPECT_THROW(client.leaderboard(query), InputError);
  EXPECT_THROW(client.submissions().get("streets/" + latin), InputError);
  EXPECT_THROW(client.submissions().create("streets", "run", latin), InputError);
}

TEST(Client, NeedsTime) {
  ClientOptions options;
  options.timeout = Duration(0);
  EXPECT_THROW(Client("localhost:1", options), InputError);
}

TEST(Client, SaysThatAServerIsNotThere) {
  EXPECT_THROW(Client("localhost:1").evaluators(), UnavailableError);
}

}  // namespace
}  // namespace vidscore::testing

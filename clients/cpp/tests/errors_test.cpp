// The errors for the statuses of calls.

#include "vidscore/errors.h"

#include <gtest/gtest.h>

#include "details.h"
#include "failing.h"
#include "status.h"

namespace vidscore::testing {
namespace {

using detail::error_of;
using grpc::StatusCode;

TEST(Status, IsTheKindOfItsCodeUnlessTheReasonHasOneOfItsOwn) {
  const auto kind = [](StatusCode code, const std::string& reason) {
    return error_of(refusal(code, reason)).kind();
  };
  EXPECT_EQ(kind(StatusCode::NOT_FOUND, ""), ErrorKind::not_found);
  EXPECT_EQ(kind(StatusCode::UNAUTHENTICATED, "TOKEN_UNKNOWN"), ErrorKind::access_denied);
  EXPECT_EQ(kind(StatusCode::ABORTED, ""), ErrorKind::conflict);
  EXPECT_EQ(kind(StatusCode::ABORTED, "EPOCH_STALE"), ErrorKind::superseded);
  EXPECT_EQ(kind(StatusCode::RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED"), ErrorKind::limit_exceeded);
  EXPECT_EQ(kind(StatusCode::RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED"), ErrorKind::quota_exceeded);
  EXPECT_EQ(kind(StatusCode::FAILED_PRECONDITION, "SUBMISSION_ENDED"), ErrorKind::submission_ended);
  EXPECT_EQ(kind(StatusCode::FAILED_PRECONDITION, "VERSION_UNSUPPORTED"), ErrorKind::version);
  EXPECT_EQ(kind(StatusCode::UNKNOWN, ""), ErrorKind::internal);
}

TEST(Status, TellsViolationsReasonMetadataAndDelay) {
  const std::string three_seconds = {0x08, 0x03};
  const std::string details = error_info("INVALID_INPUT", {{"violations", "30"}}) +
                              bad_request({{"truth.labels", "found two"}, {"", "too late"}}) +
                              any("RetryInfo", field(1, three_seconds));
  const Error error = error_of({StatusCode::INVALID_ARGUMENT, "many faults", details});
  EXPECT_EQ(error.code(), "INVALID_ARGUMENT");
  EXPECT_EQ(error.reason(), "INVALID_INPUT");
  EXPECT_EQ(error.violation_count(), 30u);
  EXPECT_EQ(error.violations().at(0).field, "truth.labels");
  EXPECT_EQ(error.metadata().at("violations"), "30");
  EXPECT_EQ(error.retry_delay(), Duration(std::chrono::seconds(3)));
  EXPECT_STREQ(error.what(),
               "many faults\n  truth.labels: found two\n  too late\n  ... and 28 more");
}

TEST(Status, LeavesDetailsOfOthersAndBrokenOnesAlone) {
  const std::string foreign = error_info("QUOTA", {}, "proxy.example");
  for (const std::string& details : {foreign, foreign.substr(0, 20), std::string("\xff\xff")}) {
    const Error error = error_of({StatusCode::UNAVAILABLE, "", details});
    EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    EXPECT_EQ(error.reason(), "UNAVAILABLE");
    EXPECT_EQ(error.message(), "the call ended with UNAVAILABLE");
    EXPECT_TRUE(error.is_retryable());
  }
}

TEST(Status, OfAMessageThatGrpcItselfHasRefusedNamesTheServersLimit) {
  const std::string refused = "SERVER: Received message larger than max (1280028 vs. 1114112)";
  const Error error = error_of({StatusCode::RESOURCE_EXHAUSTED, refused});
  EXPECT_EQ(error.kind(), ErrorKind::limit_exceeded);
  EXPECT_EQ(error.message(),
            "a message of 1280028 bytes; the server accepts at most 1114112: send less at "
            "once, or raise its limit maximum_message_bytes");
  EXPECT_EQ(error.reason(), "LIMIT_EXCEEDED");
  EXPECT_EQ(error.metadata().at("limit"), "maximum_message_bytes");
  EXPECT_EQ(error.metadata().at("maximum"), "1114112");
  const std::string own = "CLIENT: Received message larger than max (9 vs. 8)";
  EXPECT_EQ(error_of({StatusCode::RESOURCE_EXHAUSTED, own}).message(), own);
}

TEST(Error, IsThrownAsTheExceptionOfItsKind) {
  const auto raise = [](ErrorKind kind) { detail::raise(detail::local_error(kind, "no")); };
  EXPECT_THROW(raise(ErrorKind::quota_exceeded), LimitExceededError);
  EXPECT_THROW(raise(ErrorKind::superseded), ConflictError);
  EXPECT_THROW(raise(ErrorKind::submission_ended), SubmissionEndedError);
  EXPECT_THROW(raise(ErrorKind::input), InputError);
  EXPECT_STREQ(to_string(ErrorKind::call_cancelled), "call_cancelled");
  EXPECT_STREQ(to_string(ErrorKind::callback), "callback");
}

}  // namespace
}  // namespace vidscore::testing

//! The errors for the statuses of calls.

use std::collections::HashMap;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::error::{Error, ErrorKind};

fn refusal(code: Code, reason: &str) -> Error {
    let details = ErrorDetails::with_error_info(reason, "vidscore", HashMap::new());
    Error::from_status(&Status::with_error_details(code, "no", details))
}

#[test]
fn a_code_is_a_kind_unless_the_reason_has_one_of_its_own() {
    let cases = [
        (Code::NotFound, "", ErrorKind::NotFound),
        (
            Code::Unauthenticated,
            "TOKEN_UNKNOWN",
            ErrorKind::AccessDenied,
        ),
        (Code::Aborted, "", ErrorKind::Conflict),
        (Code::Aborted, "EPOCH_STALE", ErrorKind::Superseded),
        (
            Code::ResourceExhausted,
            "LIMIT_EXCEEDED",
            ErrorKind::LimitExceeded,
        ),
        (
            Code::ResourceExhausted,
            "QUOTA_EXCEEDED",
            ErrorKind::QuotaExceeded,
        ),
        (
            Code::FailedPrecondition,
            "SUBMISSION_ENDED",
            ErrorKind::SubmissionEnded,
        ),
        (
            Code::FailedPrecondition,
            "VERSION_UNSUPPORTED",
            ErrorKind::Version,
        ),
        (Code::Unknown, "", ErrorKind::Internal),
    ];
    for (code, reason, kind) in cases {
        assert_eq!(refusal(code, reason).kind(), kind, "{code:?} {reason}");
    }
}

#[test]
fn violations_reason_metadata_and_delay_are_taken_from_the_details() {
    let metadata = HashMap::from([("violations".to_owned(), "30".to_owned())]);
    let mut details = ErrorDetails::with_error_info("INVALID_INPUT", "vidscore", metadata);
    details.set_bad_request(vec![
        FieldViolation::new("truth.labels", "found two"),
        FieldViolation::new("", "too late"),
    ]);
    details.set_retry_info(Some(Duration::from_secs(3)));
    let status = Status::with_error_details(Code::InvalidArgument, "many faults", details);
    let error = Error::from_status(&status);
    assert_eq!(
        (error.code(), error.reason()),
        ("INVALID_ARGUMENT", "INVALID_INPUT")
    );
    assert_eq!(error.violation_count(), 30);
    assert_eq!(error.violations()[0].field, "truth.labels");
    assert_eq!(error.metadata()["violations"], "30");
    assert_eq!(error.retry_delay(), Some(Duration::from_secs(3)));
    let text = "many faults\n  truth.labels: found two\n  too late\n  ... and 28 more";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_message_that_grpc_itself_has_refused_breaks_the_servers_limit() {
    let text = "SERVER: Received message larger than max (1280028 vs. 1114112)";
    let error = Error::from_status(&Status::resource_exhausted(text));
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert_eq!(
        error.message(),
        "a message of 1280028 bytes; the server accepts at most 1114112: send less at \
         once, or raise its limit maximum_message_bytes"
    );
    assert_eq!(
        (error.code(), error.reason()),
        ("RESOURCE_EXHAUSTED", "LIMIT_EXCEEDED")
    );
    assert_eq!(error.metadata()["limit"], "maximum_message_bytes");
    assert_eq!(error.metadata()["maximum"], "1114112");
    let own = "CLIENT: Received message larger than max (9 vs. 8)";
    let error = Error::from_status(&Status::resource_exhausted(own));
    assert_eq!(error.message(), own);
}

#[test]
fn details_of_another_domain_and_broken_details_are_left_alone() {
    let details = ErrorDetails::with_error_info("QUOTA", "proxy.example", HashMap::new());
    let foreign = Status::with_error_details(Code::Unavailable, "", details);
    let broken = Status::with_details(Code::Unavailable, "", vec![0xff, 0xff].into());
    for status in [foreign, broken] {
        let error = Error::from_status(&status);
        assert_eq!(
            (error.kind(), error.reason()),
            (ErrorKind::Unavailable, "UNAVAILABLE")
        );
        assert_eq!(error.message(), "the call ended with UNAVAILABLE");
        assert!(error.is_retryable());
    }
}

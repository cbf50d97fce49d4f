//! Retries, with the clock and the chance of the test.

use std::time::{Duration, Instant};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::error::{Error, ErrorKind};
use crate::retrying::{is_break, Retrying};
use crate::settings::Retry;

fn broken() -> Error {
    Error::with_code(Code::Unavailable, "broken")
}

/// At once, then 1, 2, 4, 4, ... s, half of which is random.
#[test]
fn waits_double_up_to_the_longest() {
    let retry = Retry::default()
        .initial(Duration::from_secs(1))
        .maximum(Duration::from_secs(4));
    let now = Instant::now();
    let waits = |chance: fn() -> f64| {
        let mut retrying = Retrying::with_chance(retry.clone(), chance);
        [(); 6].map(|()| retrying.delay(broken(), now).unwrap().as_secs_f64())
    };
    assert_eq!(waits(|| 1.0), [0.0, 1.0, 2.0, 4.0, 4.0, 4.0]);
    assert_eq!(waits(|| 0.0), [0.0, 0.5, 1.0, 2.0, 2.0, 2.0]);
}

#[test]
fn no_wait_is_shorter_than_the_server_wants_and_none_outlasts_the_deadline() {
    let retry = Retry::default()
        .initial(Duration::from_secs(1))
        .maximum(Duration::from_secs(8))
        .give_up_after(Some(Duration::from_secs(60)));
    let mut retrying = Retrying::with_chance(retry, || 1.0);
    let busy = |seconds| {
        let mut details = ErrorDetails::new();
        details.set_retry_info(Some(Duration::from_secs(seconds)));
        let status = Status::with_error_details(Code::ResourceExhausted, "busy", details);
        Error::from_status(&status)
    };
    let now = Instant::now();
    for seconds in [3, 3, 3, 4, 8] {
        let wait = retrying.delay(busy(3), now).unwrap();
        assert_eq!(wait, Duration::from_secs(seconds));
    }
    assert!(retrying.delay(busy(61), now).is_err());
}

#[test]
fn retries_end_where_there_is_no_progress_for_so_long() {
    let retry_limit = Duration::from_secs(100);
    let mut retrying = Retrying::new(Retry::default().give_up_after(Some(retry_limit)));
    let start = Instant::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    assert!(retrying.delay(broken(), after(0)).is_ok());
    assert!(retrying.delay(broken(), after(99)).is_ok());
    retrying.progress();
    assert!(retrying.delay(broken(), after(100)).is_ok());
    assert!(retrying.delay(broken(), after(199)).is_ok());
    let error = retrying.delay(broken(), after(200)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

#[test]
fn retries_may_have_no_end() {
    let mut retrying = Retrying::new(Retry::default().give_up_after(None));
    let late = Instant::now() + Duration::from_secs(1_000_000);
    for _ in 0..2000 {
        assert!(retrying.delay(broken(), late).unwrap() <= Duration::from_secs(10));
    }
}

#[test]
fn what_another_try_may_mend_is_a_break() {
    let full = Error::with_code(Code::ResourceExhausted, "full");
    let cases = [
        (full.clone().and_reason("STORE_FULL"), true),
        (full.and_reason("LIMIT_EXCEEDED"), false),
        (Error::with_code(Code::Internal, "reset"), true),
        (
            Error::with_code(Code::Internal, "a bug").and_fact("incident", "1"),
            false,
        ),
        (Error::internal("here"), false),
        (
            Error::with_code(Code::OutOfRange, "gap").and_reason("OFFSET_GAP"),
            true,
        ),
    ];
    for (error, expected) in cases {
        assert_eq!(is_break(&error), expected, "{error}");
    }
}

#[test]
fn settings_that_are_no_times_are_refused() {
    assert!(Retry::default().initial(Duration::ZERO).check().is_err());
    assert!(Retry::default()
        .maximum(Duration::from_millis(1))
        .check()
        .is_err());
    assert!(Retry::default().check().is_ok());
}

//! The versions of server and client that work together.

use crate::error::ErrorKind;
use crate::versions::check_server;

#[test]
fn versions_work_together_where_at_most_one_minor_version_lies_between() {
    for server in ["1.4.0", "1.5.9", "1.6.0", "1.5.0rc1", "1.5"] {
        assert!(check_server(server, "1.5.0").is_ok(), "{server}");
    }
    for server in ["1.3.9", "1.7.0", "0.5.0", "2.5.0"] {
        let error = check_server(server, "1.5.0").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Version, "{server}");
    }
}

#[test]
fn what_is_no_version_is_let_pass() {
    for server in ["", "nginx", "1", "1.", "v9.9.9", "9.9 (proxy)", "1234567.0"] {
        assert!(check_server(server, "1.5.0").is_ok(), "{server}");
    }
}

#[test]
fn versions_that_are_too_far_apart_are_told_with_what_to_update() {
    let error = check_server("1.9.0", "1.5.0").unwrap_err();
    assert_eq!(error.reason(), "VERSION_UNSUPPORTED");
    assert!(error.message().ends_with("update the client"), "{error}");
    assert_eq!(error.metadata()["server_version"], "1.9.0");
}

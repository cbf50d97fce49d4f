//! What of a target, a token and certificates is refused before anything is sent.

use std::time::Duration;

use crate::client::Client;
use crate::error::ErrorKind;
use crate::settings::Tls;

#[tokio::test]
async fn addresses_are_host_and_port_or_a_socket() {
    for target in [
        "localhost:50051",
        "[::1]:50051",
        "dns:///scores.example:443",
        "unix:/tmp/s",
    ] {
        assert!(Client::connect(target).is_ok(), "{target}");
    }
    for target in [
        "",
        "localhost",
        "localhost:",
        ":50051",
        "a:b",
        "a b:1",
        "a:70000",
    ] {
        let error = Client::connect(target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{target}");
    }
}

#[tokio::test]
async fn a_token_never_goes_unencrypted_to_another_machine_unless_allowed() {
    for near in ["localhost:1", "127.0.0.2:1", "[::1]:1", "unix:/tmp/s"] {
        assert!(
            Client::builder(near).token("secret").connect().is_ok(),
            "{near}"
        );
    }
    let far = Client::builder("scores.example:1").token("secret");
    let error = far.clone().connect().unwrap_err();
    assert!(
        error
            .message()
            .starts_with("token: found an unencrypted connection"),
        "{error}"
    );
    assert!(!error.to_string().contains("secret"));
    assert!(far.clone().allow_plaintext_token(true).connect().is_ok());
    assert!(far.tls(Tls::default()).connect().is_ok());
}

#[tokio::test]
async fn a_token_is_printable_ascii_and_never_shown() {
    for token in ["", "a b", "a\n", "ä"] {
        let builder = Client::builder("localhost:1").token(token);
        assert_eq!(builder.connect().unwrap_err().kind(), ErrorKind::Input);
    }
    let builder = Client::builder("localhost:1").token("secret");
    assert!(!format!("{builder:?}").contains("secret"));
}

#[tokio::test]
async fn certificates_must_be_there_and_whole() {
    let missing = Tls::default().root_certificates(Some("/nowhere/ca.pem".into()));
    let half = Tls::default().certificate(Some("/nowhere/client.pem".into()));
    for (tls, argument) in [(missing, "root_certificates"), (half, "private_key")] {
        let error = Client::builder("scores.example:1")
            .tls(tls)
            .connect()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.message().starts_with(argument), "{error}");
    }
}

#[test]
fn a_client_needs_a_runtime_and_time() {
    let error = Client::connect("localhost:1").unwrap_err();
    assert!(error.message().starts_with("runtime"), "{error}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let _inside = runtime.enter();
    let error = Client::builder("localhost:1")
        .timeout(Duration::ZERO)
        .connect()
        .unwrap_err();
    assert!(error.message().starts_with("timeout"), "{error}");
}

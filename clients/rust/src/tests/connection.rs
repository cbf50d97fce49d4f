//! Checks of targets, tokens and certificates before anything is sent.

use std::time::Duration;

use crate::client::Client;
use crate::error::ErrorKind;
use crate::settings::{Keepalive, Tls};

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
        "http://a:1",
        "https://a:1",
        "a%20b:1",
        "[::1:1",
        "a:+5",
    ] {
        let error = Client::connect(target).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{target}");
        let told = format!("target: found {target:?}, expected host:port");
        assert!(error.to_string().starts_with(&told), "{error}");
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

#[tokio::test]
async fn files_that_are_no_certificates_are_refused_by_their_names() {
    let junk = std::env::temp_dir().join(format!("junk-{}.pem", std::process::id()));
    std::fs::write(&junk, "junk\n").unwrap();
    let root = Tls::default().root_certificates(Some(junk.clone()));
    let own = Tls::default()
        .certificate(Some(junk.clone()))
        .private_key(Some(junk.clone()));
    for tls in [root, own] {
        let error = Client::builder("localhost:1")
            .tls(tls)
            .connect()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.message().contains("without a CERTIFICATE"), "{error}");
    }
    std::fs::remove_file(junk).unwrap();
}

#[tokio::test]
async fn a_connection_that_is_cut_is_unavailable_and_worth_another_try() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = Client::connect(listener.local_addr().unwrap().to_string()).unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            drop(socket);
        }
    });
    let error = client.evaluators().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Unavailable, "UNAVAILABLE")
    );
    assert!(error.is_retryable(), "{error}");
}

#[tokio::test]
async fn pings_that_a_server_takes_for_an_attack_are_refused() {
    let often = Keepalive::default().interval(Duration::from_secs(9));
    let none = Keepalive::default().timeout(Duration::ZERO);
    for keepalive in [often, none] {
        let builder = Client::builder("localhost:1").keepalive(keepalive);
        assert_eq!(builder.connect().unwrap_err().kind(), ErrorKind::Input);
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

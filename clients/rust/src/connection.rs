//! The address of a server, how to call it, and the calls themselves.

use std::fmt;
use std::fs;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{self, Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Response, Status};

use crate::error::{Error, Result};
use crate::settings::{Keepalive, Tls};
use crate::versions::{check_server, CLIENT_KEY, SERVER_KEY};
use crate::wire::vidscore::v1 as wire;
use crate::VERSION;
use wire::benchmark_service_client::BenchmarkServiceClient;
use wire::evaluator_service_client::EvaluatorServiceClient;
use wire::scoring_service_client::ScoringServiceClient;
use wire::server_service_client::ServerServiceClient;
use wire::submission_service_client::SubmissionServiceClient;

const USER_AGENT: &str = concat!("vidscore-rust/", env!("CARGO_PKG_VERSION"));
/// A report of a million rows; the usual limit of 4 MiB is too small for many sequences.
const MAXIMUM_RESPONSE_BYTES: usize = 256 << 20;
/// Text with which tonic ends a call that exceeds its own `grpc-timeout`.
const TIMEOUT_EXPIRED: &str = "Timeout expired";
const OVERDUE: &str = "the call has exceeded its timeout";
/// Longer calls have no limit: the header of a time has eight digits, and more are a panic.
const LONGEST_CALL: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

/// Makes a [`Client`](crate::Client); begun by [`Client::builder`](crate::Client::builder).
#[derive(Clone)]
pub struct ClientBuilder {
    target: String,
    tls: Option<Tls>,
    token: Option<String>,
    timeout: Duration,
    keepalive: Keepalive,
    allow_plaintext_token: bool,
}

impl fmt::Debug for ClientBuilder {
    /// Everything but the token: representations end up in logs.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientBuilder")
            .field("target", &self.target)
            .field("tls", &self.tls)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl ClientBuilder {
    pub(crate) fn new(target: String) -> Self {
        Self {
            target,
            tls: None,
            token: None,
            timeout: Duration::from_secs(10),
            keepalive: Keepalive::default(),
            allow_plaintext_token: false,
        }
    }

    /// Encrypt the connection; `Tls::default()` trusts the system's authorities.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sent with each call as `authorization: Bearer`.
    #[must_use]
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Timeout of a call, and of opening a stream; 10 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How silent connections are detected.
    #[must_use]
    pub fn keepalive(mut self, keepalive: Keepalive) -> Self {
        self.keepalive = keepalive;
        self
    }

    /// Whether the token may be sent unencrypted to another machine; false by default.
    #[must_use]
    pub fn allow_plaintext_token(mut self, allow: bool) -> Self {
        self.allow_plaintext_token = allow;
        self
    }

    pub(crate) fn connection(self) -> Result<Connection> {
        if Handle::try_current().is_err() {
            return Err(Error::input(
                "runtime",
                "none",
                "a Tokio runtime around this call",
            ));
        }
        if self.timeout.is_zero() {
            return Err(Error::input("timeout", "0 s", "more than 0 s"));
        }
        self.keepalive.check()?;
        let host = host(&self.target)?;
        let authorization = self.token.as_deref().map(authorization).transpose()?;
        let exposed = self.tls.is_none() && !self.allow_plaintext_token && !is_loopback(host);
        if authorization.is_some() && exposed {
            return Err(Error::input(
                "token",
                format!("an unencrypted connection to {host}"),
                "tls, or allow_plaintext_token on a network that nobody else can read",
            ));
        }
        let endpoint = endpoint(&self.target, self.tls.as_ref())?
            .connect_timeout(self.timeout)
            .http2_keep_alive_interval(self.keepalive.interval)
            .keep_alive_timeout(self.keepalive.timeout);
        let channel = endpoint.connect_lazy();
        Ok(Connection {
            channel,
            authorization,
            timeout: self.timeout,
        })
    }
}

/// A server, and everything that calls to it need.
#[derive(Clone)]
pub(crate) struct Connection {
    channel: Channel,
    authorization: Option<MetadataValue<Ascii>>,
    pub(crate) timeout: Duration,
}

macro_rules! service {
    ($name:ident, $client:ident) => {
        pub(crate) fn $name(&self) -> $client<Channel> {
            $client::new(self.channel.clone()).max_decoding_message_size(MAXIMUM_RESPONSE_BYTES)
        }
    };
}

impl Connection {
    service!(benchmark_service, BenchmarkServiceClient);
    service!(evaluator_service, EvaluatorServiceClient);
    service!(scoring_service, ScoringServiceClient);
    service!(server_service, ServerServiceClient);
    service!(submission_service, SubmissionServiceClient);

    pub(crate) fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// A request of a unary call.
    pub(crate) fn request<Message>(&self, message: Message) -> Request<Message> {
        self.stream_request(message, Some(self.timeout))
    }

    /// A request of a streaming call, with or without a timeout.
    pub(crate) fn stream_request<Message>(
        &self,
        message: Message,
        timeout: Option<Duration>,
    ) -> Request<Message> {
        let mut request = Request::new(message);
        request
            .metadata_mut()
            .insert(CLIENT_KEY, MetadataValue::from_static(VERSION));
        if let Some(authorization) = &self.authorization {
            request
                .metadata_mut()
                .insert("authorization", authorization.clone());
        }
        if let Some(timeout) = timeout.filter(|timeout| *timeout <= LONGEST_CALL) {
            request.set_timeout(timeout);
        }
        request
    }

    /// The answer of a unary call, within its timeout.
    pub(crate) async fn answer<Message>(
        &self,
        call: impl Future<Output = Result<Response<Message>, Status>>,
    ) -> Result<Message> {
        match timeout(self.timeout, call).await {
            Ok(Ok(response)) => {
                let said = response.metadata().get(SERVER_KEY);
                let server = said.and_then(|version| version.to_str().ok());
                check_server(server.unwrap_or_default(), VERSION)?;
                Ok(response.into_inner())
            }
            Ok(Err(status)) => Err(call_error(&status)),
            Err(_) => Err(Error::with_code(Code::DeadlineExceeded, OVERDUE)),
        }
    }
}

/// The error of a call that has failed.
pub(crate) fn call_error(status: &Status) -> Error {
    if status.code() == Code::Cancelled && status.message() == TIMEOUT_EXPIRED {
        return Error::with_code(Code::DeadlineExceeded, OVERDUE);
    }
    if is_cut(status) {
        return Error::from_status(status).and_code(Code::Unavailable);
    }
    let error = Error::from_status(status);
    // GRPC's server ends calls like this that arrive while it stops. This client drops the calls
    // that it cancels, and gets no status for them.
    if status.code() == Code::Cancelled && error.reason() == error.code() {
        return error.and_code(Code::Unavailable);
    }
    error
}

/// Whether a status is not a server's answer, but this client's status for a connection that was
/// cut.
///
/// The library has its own codes for these, which a server's answer may also have; but an answer
/// has no source.
fn is_cut(status: &Status) -> bool {
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let by_hyper = error.downcast_ref::<hyper::Error>().is_some_and(|error| {
            error.is_canceled() || error.is_closed() || error.is_incomplete_message()
        });
        let by_h2 = error
            .downcast_ref::<h2::Error>()
            .is_some_and(|error| error.is_io() || error.is_go_away());
        if by_hyper || by_h2 || error.is::<io::Error>() || error.is::<transport::Error>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Name or address of the machine; empty for a local socket.
fn host(target: &str) -> Result<&str> {
    if target.starts_with("unix:") {
        return Ok("");
    }
    let (host, port) = authority(target).rsplit_once(':').unwrap_or_default();
    let spaced = target.chars().any(char::is_whitespace);
    let web = target.starts_with("http:") || target.starts_with("https:");
    let numbered = !port.starts_with('+') && port.parse::<u16>().is_ok();
    if host.is_empty() || !numbered || spaced || web {
        return Err(refused(target));
    }
    Ok(host.trim_start_matches('[').trim_end_matches(']'))
}

fn refused(target: &str) -> Error {
    let found: String = target.chars().take(80).collect();
    let expected = "host:port, [address]:port or unix:path";
    Error::input("target", format!("{found:?}"), expected)
}

/// An address without grpc's prefix for a resolver, as in `dns:///host:port`.
fn authority(target: &str) -> &str {
    target.rsplit('/').next().unwrap_or_default()
}

fn is_loopback(host: &str) -> bool {
    host.is_empty()
        || host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn authorization(token: &str) -> Result<MetadataValue<Ascii>> {
    // The text never shows the token, because errors end up in logs.
    let refused = || {
        Error::input(
            "token",
            "something else",
            "printable ASCII without spaces or line breaks",
        )
    };
    if token.is_empty() || !token.bytes().all(|sign| sign.is_ascii_graphic()) {
        return Err(refused());
    }
    let mut value: MetadataValue<Ascii> =
        format!("Bearer {token}").parse().map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok(value)
}

fn endpoint(target: &str, tls: Option<&Tls>) -> Result<Endpoint> {
    let address = match (target.starts_with("unix:"), tls) {
        (true, _) => target.to_owned(),
        (false, None) => format!("http://{}", authority(target)),
        (false, Some(_)) => format!("https://{}", authority(target)),
    };
    let endpoint = Endpoint::from_shared(address)
        .and_then(|endpoint| endpoint.user_agent(USER_AGENT))
        .map_err(|_| refused(target))?;
    match tls {
        None => Ok(endpoint),
        Some(tls) => endpoint
            .tls_config(tls_config(tls)?)
            .map_err(|error| Error::input("tls", chain(&error), "certificates in PEM files")),
    }
}

fn tls_config(tls: &Tls) -> Result<ClientTlsConfig> {
    let mut config = match &tls.root_certificates {
        None => ClientTlsConfig::new().with_native_roots(),
        Some(path) => {
            let root = Certificate::from_pem(read("root_certificates", path, "CERTIFICATE")?);
            ClientTlsConfig::new().ca_certificate(root)
        }
    };
    config = match (&tls.certificate, &tls.private_key) {
        (None, None) => config,
        (Some(certificate), Some(key)) => config.identity(identity(certificate, key)?),
        (certificate, _) => {
            let missing = if certificate.is_none() {
                "certificate"
            } else {
                "private_key"
            };
            let expected = "certificate and private_key together, or neither";
            return Err(Error::input(missing, "none", expected));
        }
    };
    Ok(match &tls.server_name {
        None => config,
        Some(name) => config.domain_name(name),
    })
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity> {
    Ok(Identity::from_pem(
        read("certificate", certificate, "CERTIFICATE")?,
        read("private_key", key, "PRIVATE KEY")?,
    ))
}

/// A PEM file with a block of this name; the library would silently ignore a file without one.
fn read(argument: &str, path: &Path, name: &str) -> Result<Vec<u8>> {
    let refused = |found| Error::input(argument, found, "a PEM file");
    let content =
        fs::read(path).map_err(|error| refused(format!("{}: {error}", path.display())))?;
    let wanted = format!("{name}-----");
    if !content
        .windows(wanted.len())
        .any(|part| part == wanted.as_bytes())
    {
        return Err(refused(format!("{} without a {name}", path.display())));
    }
    Ok(content)
}

/// An error with its causes, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(source) => format!("{error}: {}", chain(source)),
    }
}

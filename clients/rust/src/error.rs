//! Errors, which carry all details from the server.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

const ERROR_DOMAIN: &str = "vidscore";
/// Metadata key of the number of all violations.
const VIOLATION_COUNT: &str = "violations";

/// What this crate's functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Kind of an error, for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The server refuses the request; [`Error::violations`] has the faults.
    InvalidArgument,
    /// There is no resource of that name.
    NotFound,
    /// A limit of the server is reached; the text names it.
    LimitExceeded,
    /// The team's quota of submissions to the benchmark is used up.
    QuotaExceeded,
    /// The server cannot be reached, or is shutting down.
    Unavailable,
    /// The caller's timeout was exceeded.
    Deadline,
    /// This client cancelled the call, or somebody cancelled work on the server.
    CallCancelled,
    /// The token is missing, unknown, or not allowed to do this.
    AccessDenied,
    /// The request does not fit the server's state; [`Error::reason`] says why.
    Conflict,
    /// A newer writer has opened the same stream of the submission; this one must stop.
    Superseded,
    /// The submission is sealed or cancelled and takes no more frames.
    SubmissionEnded,
    /// Client and server have incompatible versions; the text says which one to update.
    Version,
    /// The server does not have this call: it hosts no benchmarks, or is older.
    Unsupported,
    /// The server failed, or this client cannot understand its answer.
    Internal,
    /// An argument has the wrong shape; nothing was sent.
    Input,
    /// The queue of a stream is full: the server takes frames more slowly than they come. The
    /// frames of the call that fails with this are not queued; the stream continues.
    BackPressure,
    /// The stream is finished, or the client is closed.
    Closed,
    /// A callback of the caller panicked. The stream has ended.
    Callback,
}

impl ErrorKind {
    /// The kind in lower case with underscores, such as `invalid_argument`, for logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "invalid_argument",
            Self::NotFound => "not_found",
            Self::LimitExceeded => "limit_exceeded",
            Self::QuotaExceeded => "quota_exceeded",
            Self::Unavailable => "unavailable",
            Self::Deadline => "deadline",
            Self::CallCancelled => "call_cancelled",
            Self::AccessDenied => "access_denied",
            Self::Conflict => "conflict",
            Self::Superseded => "superseded",
            Self::SubmissionEnded => "submission_ended",
            Self::Version => "version",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
            Self::Input => "input",
            Self::BackPressure => "back_pressure",
            Self::Closed => "closed",
            Self::Callback => "callback",
        }
    }

    /// The kind for a canonical code and a reason, which may have its own kind.
    fn of(code: Code, reason: &str) -> Self {
        match (reason, code) {
            ("EPOCH_STALE", _) => Self::Superseded,
            ("QUOTA_EXCEEDED", _) => Self::QuotaExceeded,
            ("SUBMISSION_ENDED", _) => Self::SubmissionEnded,
            ("VERSION_UNSUPPORTED", _) => Self::Version,
            (_, Code::Cancelled) => Self::CallCancelled,
            (_, Code::InvalidArgument) => Self::InvalidArgument,
            (_, Code::DeadlineExceeded) => Self::Deadline,
            (_, Code::NotFound) => Self::NotFound,
            (_, Code::PermissionDenied | Code::Unauthenticated) => Self::AccessDenied,
            (_, Code::ResourceExhausted) => Self::LimitExceeded,
            (_, Code::AlreadyExists | Code::FailedPrecondition) => Self::Conflict,
            (_, Code::Aborted | Code::OutOfRange) => Self::Conflict,
            (_, Code::Unimplemented) => Self::Unsupported,
            (_, Code::Unavailable) => Self::Unavailable,
            (_, Code::Ok | Code::Unknown | Code::Internal | Code::DataLoss) => Self::Internal,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One fault of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldViolation {
    /// Its place, as a path into the request.
    pub field: String,
    /// What was found, and what was expected.
    pub description: String,
}

impl fmt::Display for FieldViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => formatter.write_str(&self.description),
            field => write!(formatter, "{field}: {}", self.description),
        }
    }
}

/// What went wrong.
///
/// [`kind`](Error::kind) is for programs, the text is for people. Clones are cheap: a failed stream
/// returns its error from every later call.
#[derive(Clone, Debug)]
pub struct Error(Box<Facts>);

#[derive(Clone, Debug)]
struct Facts {
    kind: ErrorKind,
    code: Option<Code>,
    reason: String,
    message: String,
    violations: Vec<FieldViolation>,
    violation_count: usize,
    metadata: BTreeMap<String, String>,
    retry_delay: Option<Duration>,
}

impl Error {
    /// Kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What went wrong, without the list of violations.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Canonical gRPC code by name, such as `INVALID_ARGUMENT`; empty for an error that was found
    /// on this side before anything was sent.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.0.code.map_or("", code_name)
    }

    /// Stable upper-case word for machines; the code if the server gave none.
    #[must_use]
    pub fn reason(&self) -> &str {
        if self.0.reason.is_empty() {
            self.code()
        } else {
            &self.0.reason
        }
    }

    /// The faults of the request; the server sends the first twenty.
    #[must_use]
    pub fn violations(&self) -> &[FieldViolation] {
        &self.0.violations
    }

    /// The number of all faults.
    #[must_use]
    pub fn violation_count(&self) -> usize {
        self.0.violation_count
    }

    /// Further facts from the server, by name.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.0.metadata
    }

    /// Whether the same call may succeed later.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.kind() == ErrorKind::Unavailable
    }

    /// The time after which a retry may succeed, if the server gives one.
    #[must_use]
    pub fn retry_delay(&self) -> Option<Duration> {
        self.0.retry_delay
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Facts {
            kind,
            code: None,
            reason: String::new(),
            message: message.into(),
            violations: Vec::new(),
            violation_count: 0,
            metadata: BTreeMap::new(),
            retry_delay: None,
        }))
    }

    /// An error that this client makes instead of a status of the server.
    pub(crate) fn with_code(code: Code, message: impl Into<String>) -> Self {
        let mut error = Self::new(ErrorKind::of(code, ""), message);
        error.0.code = Some(code);
        error
    }

    pub(crate) fn and_code(mut self, code: Code) -> Self {
        self.0.kind = ErrorKind::of(code, &self.0.reason);
        self.0.code = Some(code);
        self
    }

    pub(crate) fn and_reason(mut self, reason: &str) -> Self {
        self.0.reason = reason.to_owned();
        self
    }

    pub(crate) fn and_kind(mut self, kind: ErrorKind) -> Self {
        self.0.kind = kind;
        self
    }

    pub(crate) fn and_fact(mut self, name: &str, value: &str) -> Self {
        self.0.metadata.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn input(
        argument: &str,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        let message = format!("{argument}: found {found}, expected {expected}");
        Self::new(ErrorKind::Input, message).and_reason("INVALID_INPUT")
    }

    pub(crate) fn closed(message: &str) -> Self {
        Self::new(ErrorKind::Closed, message).and_reason("CLOSED")
    }

    pub(crate) fn back_pressure(message: String) -> Self {
        Self::new(ErrorKind::BackPressure, message).and_reason("BACK_PRESSURE")
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    pub(crate) fn canonical_code(&self) -> Option<Code> {
        self.0.code
    }

    /// The error for the status of a call.
    pub(crate) fn from_status(status: &Status) -> Self {
        if let (Code::ResourceExhausted, Some((size, maximum))) =
            (status.code(), message_too_large(status.message()))
        {
            let message = format!(
                "a message of {size} bytes; the server accepts at most {maximum}: send less \
                 at once, or raise its limit maximum_message_bytes"
            );
            return Self::with_code(Code::ResourceExhausted, message)
                .and_reason("LIMIT_EXCEEDED")
                .and_fact("limit", "maximum_message_bytes")
                .and_fact("maximum", maximum);
        }
        let details = status.get_error_details();
        let information = details
            .error_info()
            .filter(|found| found.domain == ERROR_DOMAIN);
        let reason = information.map_or("", |found| found.reason.as_str());
        let violations: Vec<_> = details
            .bad_request()
            .into_iter()
            .flat_map(|request| &request.field_violations)
            .map(|violation| FieldViolation {
                field: violation.field.clone(),
                description: violation.description.clone(),
            })
            .collect();
        let metadata: BTreeMap<_, _> = information
            .map(|found| found.metadata.clone().into_iter().collect())
            .unwrap_or_default();
        let count = metadata
            .get(VIOLATION_COUNT)
            .and_then(|text| text.parse().ok());
        Self(Box::new(Facts {
            kind: ErrorKind::of(status.code(), reason),
            code: Some(status.code()),
            reason: reason.to_owned(),
            message: message_of(status),
            violation_count: violations.len().max(count.unwrap_or(0)),
            violations,
            metadata,
            retry_delay: details.retry_info().and_then(|retry| retry.retry_delay),
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)?;
        // If there is one violation, the server's message states it; otherwise it states the first.
        if self.0.violation_count > 1 {
            for violation in &self.0.violations {
                write!(formatter, "\n  {violation}")?;
            }
        }
        match self.0.violation_count - self.0.violations.len() {
            0 => Ok(()),
            more => write!(formatter, "\n  ... and {more} more"),
        }
    }
}

impl std::error::Error for Error {}

/// A number with its noun: `1 frame`, `2 frames`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The sizes in the text with which the server's gRPC refuses a message before the server reads it.
fn message_too_large(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("SERVER: Received message larger than max (")?
        .strip_suffix(')')?
        .split_once(" vs. ")
}

/// The text of a status; for a status that the connection made, with its root cause.
fn message_of(status: &Status) -> String {
    let mut cause = std::error::Error::source(status);
    while let Some(deeper) = cause.and_then(std::error::Error::source) {
        cause = Some(deeper);
    }
    match (status.message(), cause) {
        ("", _) => format!("the call ended with {}", code_name(status.code())),
        (text, Some(cause)) if cause.to_string() != text => format!("{text}: {cause}"),
        (text, _) => text.to_owned(),
    }
}

fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

//! Settings of streams and connections; each begins as its default and is changed by its methods.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};

/// Makes a struct of settings, its defaults and a method for each field.
macro_rules! settings {
    (
        $(#[$about:meta])* $name:ident
        { $( $(#[$meaning:meta])* $field:ident: $type:ty = $default:expr, )* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $name { $( pub(crate) $field: $type, )* }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $name {
            $( $(#[$meaning])*
            #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                self.$field = $field;
                self
            } )*
        }
    };
}

/// What happens to the caller if the queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// Sending waits for room, at most [`Batching::block_timeout`].
    #[default]
    Block,
    /// Sending fails at once with [`ErrorKind::BackPressure`](crate::ErrorKind::BackPressure).
    Raise,
}

settings! {
    /// How frames are batched into messages, and how many may wait.
    ///
    /// A frame is sent at most `batch_interval` after it was given, unless the server accepts no
    /// more; then frames wait in the queue. A frame or batch enters the queue if it fits or the
    /// queue is empty, so that memory is bounded by the queue and one batch of the caller.
    Batching {
        /// Maximum frames of a message; 256.
        batch_frames: usize = 256,
        /// Maximum bytes of a message, unless a single frame is larger; 1 MiB.
        batch_bytes: usize = 1 << 20,
        /// Longest time that a frame waits for others; 0.1 s.
        batch_interval: Duration = Duration::from_millis(100),
        /// Maximum frames that wait to be sent, both sides together; 4096.
        queue_frames: usize = 4096,
        /// Maximum bytes that wait to be sent; 64 MiB.
        queue_bytes: usize = 64 << 20,
        /// What happens to the caller if the queue is full; it waits.
        policy: Policy = Policy::Block,
        /// Longest time that [`Policy::Block`] waits before it fails with
        /// [`ErrorKind::BackPressure`](crate::ErrorKind::BackPressure); 30 s, `None` for no limit.
        block_timeout: Option<Duration> = Some(Duration::from_secs(30)),
    }
}

impl Batching {
    /// Settings that wait for the server as long as the whole call may take.
    pub(crate) fn unhurried() -> Self {
        Self::default().block_timeout(None)
    }

    /// Make no larger messages than a server accepts, as far as it states its limits.
    pub(crate) fn keep_to<'a>(&mut self, limits: impl IntoIterator<Item = (&'a String, &'a i64)>) {
        for (name, limit) in limits {
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            match name.as_str() {
                "maximum_batch_frames" => {
                    self.batch_frames = self.batch_frames.min(limit.max(1));
                }
                // The other half is for the tables of names, which the outbox does not count.
                "maximum_message_bytes" => {
                    self.batch_bytes = self.batch_bytes.min((limit / 2).max(1));
                }
                _ => {}
            }
        }
    }

    /// Refuse numbers with which nothing could ever be sent.
    pub(crate) fn check(&self) -> Result<()> {
        at_least_1("batch_frames", self.batch_frames)?;
        at_least_1("batch_bytes", self.batch_bytes)?;
        at_least_1("queue_frames", self.queue_frames)?;
        at_least_1("queue_bytes", self.queue_bytes)
    }
}

/// When live reports are sent: when either interval has passed.
///
/// Reports go to [`ScoreStream::live_reports`](crate::ScoreStream::live_reports), which keeps the
/// last [`keep_reports`](Live::keep_reports) of them; the newest is also
/// [`ScoreStream::latest`](crate::ScoreStream::latest).
#[derive(Clone, Debug)]
pub struct Live {
    pub(crate) every_frames: u64,
    pub(crate) every: Option<Duration>,
    pub(crate) summary_only: bool,
    pub(crate) keep_reports: usize,
}

impl Live {
    /// A report whenever both sides have sent this many frames since the last one.
    #[must_use]
    pub fn every_frames(frames: u64) -> Self {
        Self {
            every_frames: frames,
            every: None,
            summary_only: false,
            keep_reports: 16,
        }
    }

    /// A report whenever this time has passed since the last one.
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        Self {
            every: Some(interval),
            ..Self::every_frames(0)
        }
    }

    /// Also a report when this time has passed, whatever the number of frames.
    #[must_use]
    pub fn or_every(mut self, interval: Duration) -> Self {
        self.every = Some(interval);
        self
    }

    /// Whether to leave out the rows of single sequences and the curves; they are there.
    #[must_use]
    pub fn summary_only(mut self, summary_only: bool) -> Self {
        self.summary_only = summary_only;
        self
    }

    /// Maximum number of reports that wait for their reader; 16. Older ones are dropped.
    #[must_use]
    pub fn keep_reports(mut self, reports: usize) -> Self {
        self.keep_reports = reports;
        self
    }

    /// Refuse settings without any reports.
    pub(crate) fn check(&self) -> Result<()> {
        if self.every_frames == 0 && self.every.is_none() {
            return Err(Error::input(
                "live",
                "no interval",
                "a number of frames or a time",
            ));
        }
        if self.every_frames > i64::MAX as u64 {
            return Err(Error::input(
                "every_frames",
                self.every_frames,
                "at most 2^63 - 1",
            ));
        }
        if self
            .every
            .is_some_and(|every| every >= Duration::from_secs(1_000_000_000))
        {
            return Err(Error::input("every", "more than 1e9 s", "less"));
        }
        at_least_1("keep_reports", self.keep_reports)
    }
}

settings! {
    /// An encrypted connection; all files are PEM, and are read when the client is made.
    Tls {
        /// File of the authorities to trust; `None` for the system's own.
        root_certificates: Option<PathBuf> = None,
        /// File of this client's certificate chain, if the server requires one.
        certificate: Option<PathBuf> = None,
        /// File of the private key of `certificate`.
        private_key: Option<PathBuf> = None,
        /// Name in the server's certificate, if it differs from the address.
        server_name: Option<String> = None,
    }
}

settings! {
    /// How silent connections are detected, because some networks drop connections silently.
    ///
    /// While a call is open over a silent connection, the server is pinged. A connection without an
    /// answer is replaced by a new one.
    Keepalive {
        /// Silence after which the server is pinged; 20 s, and at least 10 s, because servers
        /// disconnect clients that ping more often.
        interval: Duration = Duration::from_secs(20),
        /// Time to wait for its answer; 10 s.
        timeout: Duration = Duration::from_secs(10),
    }
}

impl Keepalive {
    /// Refuse pings that a server takes for an attack, and invalid times.
    pub(crate) fn check(&self) -> Result<()> {
        if self.interval < Duration::from_secs(10) {
            let found = format!("{:?}", self.interval);
            return Err(Error::input("interval", found, "at least 10 s"));
        }
        if self.timeout.is_zero() {
            return Err(Error::input("timeout", "0 s", "more than 0 s"));
        }
        Ok(())
    }
}

settings! {
    /// How often and how long to try again after a break; each wait is twice the one before. If the
    /// server gives a delay, no wait is shorter.
    Retry {
        /// Time to wait before the second try; 0.2 s. The first one is made at once.
        initial: Duration = Duration::from_millis(200),
        /// Maximum time between two tries; 10 s.
        maximum: Duration = Duration::from_secs(10),
        /// Time without progress after which the last error is returned; 600 s, `None` for never.
        give_up_after: Option<Duration> = Some(Duration::from_secs(600)),
    }
}

impl Retry {
    /// Refuse invalid times.
    pub(crate) fn check(&self) -> Result<()> {
        if self.initial.is_zero() {
            return Err(Error::input("initial", "0 s", "more than 0 s"));
        }
        if self.maximum < self.initial {
            return Err(Error::input(
                "maximum",
                format!("{:?}", self.maximum),
                "initial or more",
            ));
        }
        Ok(())
    }
}

/// Called with the number of durable frames of a stream.
pub(crate) type OnAcknowledged = Arc<dyn Fn(u64) + Send + Sync>;

/// How frames of a submission are kept until the server has acknowledged them.
///
/// Sent but unacknowledged frames are kept to be sent again after a break, so that memory is
/// bounded by this window and the queue of [`Batching`].
#[derive(Clone)]
pub struct Delivery {
    pub(crate) window_frames: usize,
    pub(crate) window_bytes: usize,
    pub(crate) acknowledge_timeout: Duration,
    pub(crate) close_timeout: Duration,
    pub(crate) retry: Retry,
    pub(crate) unary: bool,
    pub(crate) on_acknowledged: Option<OnAcknowledged>,
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            window_frames: 4096,
            window_bytes: 64 << 20,
            acknowledge_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(120),
            retry: Retry::default(),
            unary: false,
            on_acknowledged: None,
        }
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Delivery")
            .field("window_frames", &self.window_frames)
            .field("window_bytes", &self.window_bytes)
            .field("acknowledge_timeout", &self.acknowledge_timeout)
            .field("close_timeout", &self.close_timeout)
            .field("retry", &self.retry)
            .field("unary", &self.unary)
            .finish_non_exhaustive()
    }
}

impl Delivery {
    /// Number of unacknowledged frames at which no further batch is sent; 4096.
    #[must_use]
    pub fn window_frames(mut self, frames: usize) -> Self {
        self.window_frames = frames;
        self
    }

    /// Bytes of unacknowledged frames, likewise; 64 MiB.
    #[must_use]
    pub fn window_bytes(mut self, bytes: usize) -> Self {
        self.window_bytes = bytes;
        self
    }

    /// Time without an acknowledgement after which a connection counts as broken; 30 s.
    #[must_use]
    pub fn acknowledge_timeout(mut self, timeout: Duration) -> Self {
        self.acknowledge_timeout = timeout;
        self
    }

    /// Longest time that closing the stream, or dropping it, waits for frames to become durable
    /// before it drops them; 2 min.
    #[must_use]
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.close_timeout = timeout;
        self
    }

    /// What happens after a break.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Whether each batch is a separate call, for proxies without streams; slower, otherwise the
    /// same.
    #[must_use]
    pub fn unary(mut self, unary: bool) -> Self {
        self.unary = unary;
        self
    }

    /// Called with the stream's number of durable frames whenever it has grown.
    ///
    /// It runs on the stream's own task, which delivers nothing meanwhile: it must be quick and
    /// never block; waiting for its own stream fails with
    /// [`ErrorKind::Callback`](crate::ErrorKind::Callback). If it panics, the stream ends with that.
    #[must_use]
    pub fn on_acknowledged(mut self, callback: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.on_acknowledged = Some(Arc::new(callback));
        self
    }

    /// Refuse numbers with which nothing could ever be sent.
    pub(crate) fn check(&self) -> Result<()> {
        at_least_1("window_frames", self.window_frames)?;
        at_least_1("window_bytes", self.window_bytes)?;
        if self.acknowledge_timeout.is_zero() {
            return Err(Error::input("acknowledge_timeout", "0 s", "more than 0 s"));
        }
        self.retry.check()
    }
}

fn at_least_1(name: &str, value: usize) -> Result<()> {
    if value == 0 {
        return Err(Error::input(name, 0, "at least 1"));
    }
    Ok(())
}

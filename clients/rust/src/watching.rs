//! The state of a watch of a submission, without any I/O.

use std::time::{Duration, Instant};

use tonic::Code;

use crate::error::{Error, Result};
use crate::hosting::SubmissionUpdate;
use crate::retrying::Retrying;
use crate::settings::Retry;
use crate::wire::vidscore::v1 as wire;

/// Time after which a call is replaced: proxies end calls that are silent for a minute.
pub(crate) const CALL_TIME: Duration = Duration::from_secs(45);

/// A submission that is watched over as many calls as needed.
#[derive(Debug)]
pub(crate) struct Watched {
    name: String,
    revision: i64,
    pause: Duration,
    retrying: Retrying,
    ended: bool,
}

impl Watched {
    /// Start without any state.
    pub(crate) fn new(name: String, retry: Retry) -> Self {
        Self {
            name,
            revision: 0,
            pause: retry.initial,
            retrying: Retrying::new(retry),
            ended: false,
        }
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// The request of the next call.
    pub(crate) fn request(&self) -> wire::WatchSubmissionRequest {
        wire::WatchSubmissionRequest {
            name: self.name.clone(),
            from_revision: self.revision,
            ..wire::WatchSubmissionRequest::default()
        }
    }

    /// Record an update.
    pub(crate) fn take(&mut self, update: SubmissionUpdate) -> SubmissionUpdate {
        self.retrying.progress();
        self.revision = self.revision.max(update.submission.revision);
        self.ended = update.submission.state.has_ended();
        update
    }

    /// Time to wait before the next call; the error, if a retry is useless.
    pub(crate) fn delay(&mut self, error: Error, now: Instant) -> Result<Duration> {
        if error.canonical_code() == Some(Code::DeadlineExceeded) {
            self.retrying.progress(); // nothing has happened for a while, and nothing failed
            return Ok(self.pause);
        }
        self.retrying.delay(error, now)
    }
}

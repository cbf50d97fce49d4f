//! The state of a scoring stream, without any I/O.
//!
//! Its caller holds a lock, sends what `take` returns, passes in the responses, and wakes the
//! waiters after each change.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use tonic::Code;

use crate::error::{counted, Error, Result};
use crate::frames::Side;
use crate::outbox::{Batch, Item, Outbox};
use crate::reports::{LiveReport, Report};
use crate::settings::{Batching, Live};

/// The server has accepted the configuration.
#[derive(Clone, Debug, Default)]
pub(crate) struct Started {
    pub(crate) server_version: String,
    pub(crate) limits: BTreeMap<String, i64>,
}

/// The content of one message of the server.
#[derive(Debug)]
pub(crate) enum Event {
    Started(Started),
    Live(LiveReport),
    Final(Vec<Report>),
}

/// The state of one scoring stream.
#[derive(Debug)]
pub(crate) struct ScoreState {
    batching: Batching,
    outbox: Outbox,
    started: Option<Started>,
    latest: Option<LiveReport>,
    unread: VecDeque<LiveReport>,
    keep_reports: usize,
    final_reports: Option<Vec<Report>>,
    error: Option<Error>,
    closing: bool,
    ended: bool,
}

impl ScoreState {
    /// Start as a stream that has sent and received nothing.
    pub(crate) fn new(batching: Batching, live: Option<&Live>) -> Self {
        Self {
            outbox: Outbox::new(batching.clone()),
            batching,
            started: None,
            latest: None,
            unread: VecDeque::new(),
            keep_reports: live.map_or(1, |live| live.keep_reports),
            final_reports: None,
            error: None,
            closing: false,
            ended: false,
        }
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// The response with which the server accepted the stream.
    pub(crate) fn started(&self) -> Option<&Started> {
        self.started.as_ref()
    }

    /// The newest live report.
    pub(crate) fn latest(&self) -> Option<&LiveReport> {
        self.latest.as_ref()
    }

    /// Whether the call is over, with or without an error.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether this side of the stream may be closed.
    pub(crate) fn nothing_to_send(&self) -> bool {
        self.ended || (self.closing && self.outbox.frames() == 0)
    }

    /// Accept frames if there is room; otherwise give them back.
    pub(crate) fn admit(&mut self, side: Side, item: Item, now: Instant) -> Result<Option<Item>> {
        self.check()?;
        if self.closing || self.ended {
            return Err(Error::closed(
                "the stream is finished and takes no more frames",
            ));
        }
        Ok(self.outbox.offer(side, item, now))
    }

    /// The error for frames that were not accepted, after a wait or without one.
    pub(crate) fn refusal(&self, waited: Option<Duration>) -> Error {
        Error::back_pressure(format!(
            "the queue was full{}: {} to be sent, queue_frames is {}, \
             queue_bytes is {}",
            waited
                .map(|time| format!(" for {time:?}"))
                .unwrap_or_default(),
            counted(self.outbox.frames() as u64, "frame"),
            self.batching.queue_frames,
            self.batching.queue_bytes,
        ))
    }

    /// The next batch to send; `None` if none is due.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Batch> {
        if self.ended {
            None
        } else {
            self.outbox.take(now)
        }
    }

    /// Accept no more frames, and make all frames due now.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        self.outbox.flush();
    }

    /// Record a response.
    pub(crate) fn receive(&mut self, event: Event) {
        match event {
            Event::Started(started) => {
                self.outbox.keep_to(&started.limits);
                self.started = Some(started);
            }
            Event::Live(report) => self.keep(report),
            Event::Final(reports) => self.final_reports = Some(reports),
        }
    }

    /// Record the end of the call; the first cause counts.
    pub(crate) fn end(&mut self, error: Option<Error>) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.closing = true;
        self.error = match error {
            None if self.final_reports.is_none() => Some(Error::internal(
                "the server ended the stream without a final report",
            )),
            error => error,
        };
    }

    /// The error of the stream, if it failed.
    pub(crate) fn check(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// The oldest unread live report, if there is one; the outer `None` if one may still come, the
    /// inner one if the stream has ended without an error and none will.
    pub(crate) fn next_report(&mut self) -> Option<Option<Result<LiveReport>>> {
        if let Some(report) = self.unread.pop_front() {
            return Some(Some(Ok(report)));
        }
        self.ended.then(|| self.check().err().map(Err))
    }

    /// The final reports of a stream that has ended.
    pub(crate) fn final_reports(&self) -> Result<Vec<Report>> {
        self.check()?;
        Ok(self.final_reports.clone().unwrap_or_default())
    }

    fn keep(&mut self, report: LiveReport) {
        if self.unread.len() >= self.keep_reports {
            self.unread.pop_front();
        }
        self.unread.push_back(report.clone());
        self.latest = Some(report);
    }
}

/// The error of a stream that this client has cancelled.
pub(crate) fn cancelled() -> Error {
    Error::with_code(Code::Cancelled, "the stream was cancelled by this client")
}

/// The error of a stream that the server has not accepted in time.
pub(crate) fn not_started(timeout: Duration) -> Error {
    let message = format!("the server has not accepted the stream within {timeout:?}");
    Error::with_code(Code::DeadlineExceeded, message)
}

/// The error of a stream that exceeded its timeout.
pub(crate) fn out_of_time(timeout: Duration) -> Error {
    let message = format!("the stream was not finished within {timeout:?}");
    Error::with_code(Code::DeadlineExceeded, message)
}

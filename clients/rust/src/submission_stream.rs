//! The stream of detections into a submission.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::connection::Connection;
use crate::error::{Error, ErrorKind, Result};
use crate::frames::{Frame, Geometry};
use crate::hosting::{Benchmark, StreamInfo, Submission, SubmissionScore};
use crate::names::benchmark_name;
use crate::outbox::Item;
use crate::sender::{OpenedStream, Sender};
use crate::settings::{Batching, Delivery};
use crate::submissions::Submissions;
use crate::wire::vidscore::v1 as wire;

/// A submission to which detections are sent; begun by [`Client::submit`](crate::Client::submit),
/// ended by [`open`](SubmitBuilder::open).
#[derive(Clone)]
#[must_use]
pub struct SubmitBuilder {
    connection: Connection,
    benchmark: String,
    submission: Option<String>,
    stream: String,
    title: String,
    replay: bool,
    batching: Batching,
    delivery: Delivery,
}

impl SubmitBuilder {
    pub(crate) fn new(connection: Connection, benchmark: String) -> Self {
        Self {
            connection,
            benchmark,
            submission: None,
            stream: "default".to_owned(),
            title: String::new(),
            replay: false,
            batching: Batching::default(),
            delivery: Delivery::default(),
        }
    }

    /// Name of the submission, which is created if it does not exist: 1 to 63 lower-case letters,
    /// digits and hyphens, a letter first. By default, a new one that the server names.
    pub fn submission(mut self, submission: impl Into<String>) -> Self {
        self.submission = Some(submission.into());
        self
    }

    /// Name of the append stream; `default` by default. Each has one writer at a time.
    pub fn stream(mut self, stream: impl Into<String>) -> Self {
        self.stream = stream.into();
        self
    }

    /// Title of a new submission, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Whether the caller sends from the first frame again, as a restarted program does: durable
    /// frames are left out.
    pub fn replay(mut self, replay: bool) -> Self {
        self.replay = replay;
        self
    }

    /// How frames are batched, and what happens if the server is slow.
    pub fn batching(mut self, batching: Batching) -> Self {
        self.batching = batching;
        self
    }

    /// How frames are kept until they are acknowledged.
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Find or create the submission, and open the append stream: an older writer of it is
    /// excluded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such benchmark,
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if it takes no detections yet,
    /// [`ErrorKind::QuotaExceeded`](crate::ErrorKind::QuotaExceeded) if the team may have no more
    /// submissions, [`ErrorKind::SubmissionEnded`](crate::ErrorKind::SubmissionEnded) if it takes
    /// no more frames, or the error of a call.
    pub async fn open(mut self) -> Result<SubmissionStream> {
        self.batching.check()?;
        self.delivery.check()?;
        let (opened, limits) = self.open_stream().await?;
        self.batching.keep_to(&limits);
        let connection = self.connection.clone();
        let sender = Sender::new(
            opened,
            connection,
            self.batching,
            self.delivery.clone(),
            self.replay,
        );
        let sender = Arc::new(sender);
        let task = sender.start();
        let submissions = Submissions::new(self.connection).retry(self.delivery.retry);
        Ok(SubmissionStream {
            sender,
            task,
            runtime: Handle::current(),
            submissions,
        })
    }

    /// The opened stream, and the limits of its messages, as far as the server states them.
    async fn open_stream(&self) -> Result<(OpenedStream, HashMap<String, i64>)> {
        let benchmark = benchmark_name(&self.benchmark)?;
        let geometry = self.detection_geometry(&benchmark).await?;
        let submissions = Submissions::new(self.connection.clone());
        let submission = submissions
            .find_or_create(&benchmark, self.submission.as_deref(), &self.title)
            .await?;
        let request = wire::OpenStreamRequest {
            submission: submission.name.clone(),
            stream: self.stream.clone(),
        };
        let mut service = self.connection.submission_service();
        let call = service.open_stream(self.connection.request(request));
        let answer = self.connection.answer(call).await?;
        let stream = StreamInfo::decode(answer.stream.unwrap_or_default());
        let opened = OpenedStream {
            submission,
            stream,
            geometry,
        };
        Ok((opened, answer.limits))
    }

    async fn detection_geometry(&self, benchmark: &str) -> Result<Geometry> {
        let request = wire::GetBenchmarkRequest {
            name: benchmark.to_owned(),
        };
        let mut service = self.connection.benchmark_service();
        let call = service.get_benchmark(self.connection.request(request));
        let answer = self.connection.answer(call).await?;
        let found = Benchmark::decode(answer.benchmark.unwrap_or_default());
        found.detection_geometry.ok_or_else(|| {
            let message = format!(
                "{} takes no detections yet: their geometry follows from the truth, \
                 which has not been uploaded",
                found.name
            );
            Error::new(ErrorKind::Conflict, message).and_reason("BENCHMARK_NOT_OPEN")
        })
    }
}

/// A stream of detections into a submission.
///
/// Frames are sent again automatically after any break of the connection, from the first one that
/// the server lacks. Every method may be called from any task and thread, by reference; frames of
/// one task are sent in its order. Methods may be cancelled at any await point:
/// `tokio::time::timeout` around one limits it, and the stream continues.
///
/// A dropped stream is closed in the background: accepted frames are delivered as long as the
/// runtime lives, and the number of dropped frames is written to standard error. Call
/// [`close`](SubmissionStream::close) or [`seal`](SubmissionStream::seal) to wait for that, or
/// [`abort`](SubmissionStream::abort). The submission stays as it is until it is sealed.
pub struct SubmissionStream {
    sender: Arc<Sender>,
    task: AbortHandle,
    runtime: Handle,
    submissions: Submissions,
}

impl fmt::Debug for SubmissionStream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SubmissionStream")
            .field("submission", &self.submission())
            .field("acknowledged_frames", &self.acknowledged_frames())
            .finish_non_exhaustive()
    }
}

impl SubmissionStream {
    /// Full name of the submission.
    #[must_use]
    pub fn submission(&self) -> &str {
        &self.sender.opened.submission.name
    }

    /// Number of frames of the stream that were durable when it was opened, the offset from which
    /// to continue.
    #[must_use]
    pub fn next_offset(&self) -> u64 {
        self.sender.opened.stream.next_offset
    }

    /// Number of frames of the stream that are known to be durable.
    #[must_use]
    pub fn acknowledged_frames(&self) -> u64 {
        self.sender.monitor.lock().acknowledged()
    }

    /// Number of accepted frames that are not known to be durable; after the end of the stream, of
    /// dropped frames.
    #[must_use]
    pub fn undelivered_frames(&self) -> usize {
        self.sender.monitor.lock().undelivered()
    }

    /// Number of times that the stream continued after a break.
    #[must_use]
    pub fn reconnections(&self) -> u64 {
        self.sender.monitor.lock().reconnections()
    }

    /// Send one whole frame of detections; returns as soon as it is queued. Each frame is sent
    /// once, over all streams of the submission.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if the shape of an object differs from that of
    /// the benchmark's detections, [`ErrorKind::BackPressure`](crate::ErrorKind::BackPressure) if
    /// the queue is full, as the policy says,
    /// [`ErrorKind::Superseded`](crate::ErrorKind::Superseded) if a newer writer has opened the
    /// stream, or the other error with which it failed.
    pub async fn send(&self, frame: Frame) -> Result<()> {
        frame.check(self.sender.opened.geometry)?;
        self.sender.put(Item::Single(frame)).await
    }

    /// Send many whole frames; they do not wait for others.
    ///
    /// # Errors
    ///
    /// Those of [`send`](SubmissionStream::send).
    pub async fn send_batch(&self, frames: Vec<Frame>) -> Result<()> {
        let geometry = self.sender.opened.geometry;
        frames.iter().try_for_each(|frame| frame.check(geometry))?;
        match frames.is_empty() {
            true => Ok(()),
            false => self.sender.put(Item::Whole(frames)).await,
        }
    }

    /// Wait until all sent frames are durable; returns the number of durable frames of the stream.
    ///
    /// # Errors
    ///
    /// The error with which the stream failed.
    pub async fn flush(&self) -> Result<u64> {
        self.sender.flush().await
    }

    /// Deliver the accepted frames and end the stream, within
    /// [`Delivery::close_timeout`](crate::Delivery::close_timeout); the submission stays open. It
    /// may be called again; after [`abort`](SubmissionStream::abort) it does nothing.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Deadline`](crate::ErrorKind::Deadline) if frames are not durable in time; they
    /// are dropped, and the text and [`undelivered_frames`](SubmissionStream::undelivered_frames)
    /// give their number. Otherwise the error of the stream, if it had frames that are not durable.
    pub async fn close(&self) -> Result<()> {
        self.sender.close(&self.task).await
    }

    /// End the stream at once and drop the frames that are not durable.
    pub fn abort(&self) {
        self.sender.abort(&self.task);
    }

    /// Wait until every frame is durable, end the stream and seal the submission: it is scored
    /// then. `expected_frame_count` is the number of frames that must be durable in all streams
    /// together, `None` for any number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) if another number of frames is durable,
    /// with reason `FRAME_COUNT_DIFFERS`; nothing is sealed then. Otherwise the error with which
    /// the stream failed, or why it cannot be sealed.
    pub async fn seal(&self, expected_frame_count: Option<u64>) -> Result<Submission> {
        self.flush().await?;
        self.close().await?;
        self.submissions
            .seal(self.submission(), expected_frame_count)
            .await
    }

    /// Wait until the submission has ended; see [`Submissions::wait`].
    ///
    /// # Errors
    ///
    /// The reason why it cannot be watched.
    pub async fn wait(&self) -> Result<Submission> {
        self.submissions.wait(self.submission()).await
    }

    /// The scores of the submission that the caller may see, newest first.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn scores(&self) -> Result<Vec<SubmissionScore>> {
        self.submissions.scores(self.submission()).await
    }
}

impl Drop for SubmissionStream {
    /// Close in the background; in a panic, which may have left half of the work, abort.
    fn drop(&mut self) {
        let is_done = self.sender.monitor.lock().drained();
        if is_done || std::thread::panicking() {
            self.abort();
        } else {
            let task = self.task.clone();
            self.sender.clone().close_behind(&self.runtime, task);
        }
    }
}

//! Delivers the frames of an append stream: connects, sends, and continues after breaks.

use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, Stream};
use prost::Message;
use tokio::runtime::Handle;
use tokio::task::{yield_now, AbortHandle};
use tonic::Code;

use crate::append_state::{AppendState, Sent};
use crate::checksum::crc32;
use crate::clock::later;
use crate::connection::{call_error, Connection};
use crate::encoding::encode_frames;
use crate::error::{counted, Error, ErrorKind, Result};
use crate::frames::Geometry;
use crate::hosting::{natural, StreamInfo, Submission};
use crate::monitor::Monitor;
use crate::outbox::Item;
use crate::retrying::ended_early;
use crate::settings::{Batching, Delivery, Policy};
use crate::submissions::Submissions;
use crate::wire::vidscore::v1 as wire;

/// How long closing waits for the server to end the call.
const JOIN_TIMEOUT: Duration = Duration::from_secs(5);

thread_local! {
    /// The sender whose `on_acknowledged` runs on this thread.
    static TELLING: Cell<Option<*const Sender>> = const { Cell::new(None) };
}

/// An append stream that was opened for this writer.
#[derive(Clone, Debug)]
pub(crate) struct OpenedStream {
    pub(crate) submission: Submission,
    pub(crate) stream: StreamInfo,
    pub(crate) geometry: Geometry,
}

impl OpenedStream {
    /// The message of a batch; the same batch always gives the same bytes.
    fn append(&self, batch: &Sent) -> wire::AppendRequest {
        let detections = encode_frames(&batch.frames, self.geometry);
        wire::AppendRequest {
            stream: format!("{}/streams/{}", self.submission.name, self.stream.stream),
            epoch: self.stream.epoch,
            offset: batch.offset as i64,
            detections_crc32: Some(crc32(&detections.encode_to_vec())),
            detections: Some(detections),
            source_position: None,
        }
    }
}

/// What a submission stream and its task share.
pub(crate) struct Sender {
    pub(crate) monitor: Monitor<AppendState>,
    pub(crate) opened: OpenedStream,
    /// Whether this client has closed or aborted it.
    left: AtomicBool,
    connection: Connection,
    batching: Batching,
    delivery: Delivery,
}

impl Sender {
    pub(crate) fn new(
        opened: OpenedStream,
        connection: Connection,
        batching: Batching,
        delivery: Delivery,
        replay: bool,
    ) -> Self {
        let stream = opened.stream.clone();
        let state = AppendState::new(stream, batching.clone(), delivery.clone(), replay);
        Self {
            monitor: Monitor::new(state),
            opened,
            left: AtomicBool::new(false),
            connection,
            batching,
            delivery,
        }
    }

    /// Begin to deliver.
    pub(crate) fn start(self: &Arc<Self>) -> AbortHandle {
        let guard = EndOnDrop(self.clone());
        let task = tokio::spawn(async move {
            let outcome = guard.0.deliver_all().await;
            guard.0.monitor.update(|state| state.end(outcome.err()));
        });
        task.abort_handle()
    }

    /// Queue frames; if the queue is full, do what the policy says.
    pub(crate) async fn put(&self, item: Item) -> Result<()> {
        let before = self.monitor.lock().due();
        let refused = self.monitor.lock().admit(item, Instant::now())?;
        let waited = refused.is_some();
        if let Some(item) = refused {
            self.wait_for_room(item).await?;
        }
        // The sender sleeps until something is due; only an earlier time concerns it. While this
        // task waited it may have sent all that there was, and sleeps without a time.
        if waited || self.monitor.lock().due() != before {
            self.monitor.notify();
            yield_now().await; // a caller that never waits would leave the sender no turn
        }
        Ok(())
    }

    /// Wait until every frame is durable.
    pub(crate) async fn flush(&self) -> Result<u64> {
        self.refuse_in_callback()?;
        self.monitor.update(AppendState::flush);
        self.monitor
            .wait(None, |state| state.drained().then_some(()))
            .await;
        let state = self.monitor.lock();
        state.check_delivered()?;
        Ok(state.acknowledged())
    }

    /// Deliver the accepted frames within a time, and end; do nothing if this client has ended the
    /// stream.
    pub(crate) async fn close(&self, task: &AbortHandle) -> Result<()> {
        self.refuse_in_callback()?;
        if self.left.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.monitor.update(AppendState::close);
        let timeout = self.delivery.close_timeout;
        let limit = later(Instant::now(), timeout);
        let drained = |state: &mut AppendState| state.drained().then_some(());
        if self.monitor.wait(Some(limit), drained).await.is_some() {
            let limit = later(Instant::now(), JOIN_TIMEOUT);
            let ended = |state: &mut AppendState| state.ended().then_some(());
            self.monitor.wait(Some(limit), ended).await;
        }
        self.left.store(true, Ordering::SeqCst);
        self.monitor.update(|state| {
            let frames = state.undelivered();
            state.end((frames > 0).then(|| not_delivered(frames, timeout)));
        });
        task.abort();
        self.monitor.lock().check_delivered()
    }

    /// End at once and drop the frames that are not durable.
    pub(crate) fn abort(&self, task: &AbortHandle) {
        self.left.store(true, Ordering::SeqCst);
        self.monitor.update(|state| state.end(Some(aborted())));
        task.abort();
    }

    /// Close in the background, for a stream that was dropped.
    pub(crate) fn close_behind(self: Arc<Self>, runtime: &Handle, task: AbortHandle) {
        let telling = Telling(self);
        runtime.spawn(async move {
            // A destructor cannot return an error; `telling` reports the dropped frames.
            let _ = telling.0.close(&task).await;
        });
    }

    fn refuse_in_callback(&self) -> Result<()> {
        if TELLING.get() != Some(self as *const Self) {
            return Ok(());
        }
        let message = "flush, close and seal cannot be called in on_acknowledged: \
                       they would wait for themselves";
        Err(Error::new(ErrorKind::Callback, message).and_reason("CALLBACK_FAILED"))
    }

    async fn wait_for_room(&self, item: Item) -> Result<()> {
        if self.batching.policy == Policy::Raise {
            return Err(self.monitor.lock().refusal(None));
        }
        let mut item = Some(item);
        let limit = self
            .batching
            .block_timeout
            .map(|time| later(Instant::now(), time));
        let admit = |state: &mut AppendState| match state.admit(item.take()?, Instant::now()) {
            Ok(refused) => {
                item = refused;
                item.is_none().then_some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        };
        let outcome = self.monitor.wait(limit, admit).await;
        outcome.unwrap_or_else(|| Err(self.monitor.lock().refusal(self.batching.block_timeout)))
    }

    async fn deliver_all(self: &Arc<Self>) -> Result<()> {
        let work = |state: &mut AppendState| (state.closing() || !state.idle()).then_some(());
        loop {
            self.monitor.wait(None, work).await;
            if self.monitor.lock().drained() {
                return Ok(());
            }
            if let Err(error) = self.deliver().await {
                let now = Instant::now();
                let delay = self.monitor.update(|state| state.delay(error, now))?;
                self.pause(later(now, delay)).await;
            }
        }
    }

    async fn pause(&self, until: Instant) {
        self.monitor
            .wait(Some(until), |state| state.ended().then_some(()))
            .await;
    }

    async fn deliver(self: &Arc<Self>) -> Result<()> {
        let broken = self.monitor.lock().broken();
        if broken {
            self.resume().await?;
        }
        match self.delivery.unary {
            true => self.deliver_one_by_one().await,
            false => self.deliver_over_a_call().await,
        }
    }

    async fn resume(&self) -> Result<()> {
        let submissions = Submissions::new(self.connection.clone());
        let submission = submissions.get(&self.opened.submission.name).await?;
        let known = submission.stream(&self.opened.stream.stream);
        let grown = self
            .monitor
            .update(|state| state.resume(known, Instant::now()))?;
        self.tell(grown)
    }

    async fn deliver_one_by_one(&self) -> Result<()> {
        let connection = self.monitor.lock().connection();
        while let Some(batch) = self.next_batch(connection).await {
            let request = self.opened.append(&batch);
            let mut service = self.connection.submission_service();
            let call = service.append_batch(self.connection.request(request));
            let answer = self.connection.answer(call).await?;
            self.acknowledge(answer.next_offset)?;
        }
        Ok(())
    }

    async fn deliver_over_a_call(self: &Arc<Self>) -> Result<()> {
        let outcome = tokio::select! {
            outcome = self.converse() => outcome,
            error = self.await_stall() => Err(error),
        };
        self.monitor.update(AppendState::disconnect);
        outcome
    }

    async fn converse(self: &Arc<Self>) -> Result<()> {
        let connection = self.monitor.lock().connection();
        let requests = self
            .connection
            .stream_request(self.requests(connection), None);
        let mut service = self.connection.submission_service();
        let call = service.append_frames(requests).await;
        let mut answers = call.map_err(|status| call_error(&status))?.into_inner();
        while let Some(answer) = answers
            .message()
            .await
            .map_err(|status| call_error(&status))?
        {
            self.acknowledge(answer.next_offset)?;
        }
        let drained = self.monitor.lock().drained();
        if drained {
            Ok(())
        } else {
            Err(ended_early())
        }
    }

    fn requests(
        self: &Arc<Self>,
        connection: u64,
    ) -> impl Stream<Item = wire::AppendRequest> + Send + use<> {
        stream::unfold(self.clone(), move |sender| async move {
            let batch = sender.next_batch(connection).await?;
            Some((sender.opened.append(&batch), sender))
        })
    }

    /// Wait until a call gets no acknowledgements any more.
    async fn await_stall(&self) -> Error {
        let timeout = self.delivery.acknowledge_timeout;
        loop {
            let now = Instant::now();
            let stalled_at = self.monitor.lock().stalled_at();
            if stalled_at.is_some_and(|stalled_at| now >= stalled_at) {
                return no_answer(timeout);
            }
            let until = stalled_at.unwrap_or(later(now, timeout));
            tokio::time::sleep_until(until.into()).await;
        }
    }

    async fn next_batch(&self, connection: u64) -> Option<Sent> {
        let done =
            |state: &AppendState| state.nothing_to_send() || state.connection() != connection;
        loop {
            let now = Instant::now();
            let (batch, due) = {
                let mut state = self.monitor.lock();
                if done(&state) {
                    return None;
                }
                (state.take(now), state.due())
            };
            if batch.is_some() {
                self.monitor.notify(); // there is room in the queue
                return batch;
            }
            let changed =
                |state: &mut AppendState| (done(state) || state.due() != due).then_some(());
            self.monitor.wait(due.instant(now), changed).await;
        }
    }

    fn acknowledge(&self, next_offset: i64) -> Result<()> {
        let next_offset = natural(next_offset);
        let grown = self
            .monitor
            .update(|state| state.acknowledge(next_offset, Instant::now()))?;
        self.tell(grown)
    }

    fn tell(&self, grown: bool) -> Result<()> {
        let Some(callback) = self.delivery.on_acknowledged.as_ref().filter(|_| grown) else {
            return Ok(());
        };
        let acknowledged = self.monitor.lock().acknowledged();
        let outer = TELLING.replace(Some(self as *const Self));
        let outcome = catch_unwind(AssertUnwindSafe(|| callback(acknowledged)));
        TELLING.set(outer);
        outcome.map_err(|_| {
            Error::new(ErrorKind::Callback, "on_acknowledged panicked")
                .and_reason("CALLBACK_FAILED")
        })
    }
}

/// Ends a stream whose task has ended, even by a bug in this crate.
struct EndOnDrop(Arc<Sender>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.monitor.update(|state| state.end(Some(aborted())));
    }
}

/// Reports the frames that a dropped stream could not deliver, when its closing or the runtime
/// ends.
struct Telling(Arc<Sender>);

impl Drop for Telling {
    fn drop(&mut self) {
        let frames = self.0.monitor.lock().undelivered();
        if frames > 0 {
            let name = &self.0.opened.submission.name;
            let frames = counted(frames as u64, "frame");
            eprintln!("vidscore: {frames} of {name} dropped: not durable");
        }
    }
}

/// The error of frames that are dropped after the timeout of delivery.
fn not_delivered(frames: usize, timeout: Duration) -> Error {
    let frames = counted(frames as u64, "frame");
    let message = format!("{frames} dropped: not durable within {timeout:?}");
    Error::with_code(Code::DeadlineExceeded, message)
}

/// The error of an aborted stream.
pub(crate) fn aborted() -> Error {
    Error::closed("the stream was aborted")
}

/// The error of a connection without acknowledgements.
fn no_answer(timeout: Duration) -> Error {
    let message = format!("the server has acknowledged nothing for {timeout:?}");
    Error::with_code(Code::Unavailable, message)
}

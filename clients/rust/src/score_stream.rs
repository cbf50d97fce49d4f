//! The scoring stream.
//!
//! One task serves a stream: it makes the call and reads the responses; the connection asks for the
//! next message whenever it can send one.

use std::collections::BTreeMap;
use std::future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use tokio::task::{yield_now, AbortHandle};
use tokio::time::timeout;

use crate::clock::later;
use crate::connection::{call_error, Connection};
use crate::encoding::encode_frames;
use crate::error::{Error, Result};
use crate::frames::{Frame, Geometry, Side};
use crate::monitor::Monitor;
use crate::outbox::{Batch, Item};
use crate::reports::{LiveReport, Report};
use crate::score_state::{cancelled, not_started, out_of_time, Event, ScoreState, Started};
use crate::settings::{Batching, Live, Policy};
use crate::specification::{Evaluator, Specification};
use crate::wire::vidscore::v1 as wire;
use wire::score_request::Message as Asked;
use wire::score_response::Message as Said;

/// What to score, and how; begun by [`Client::score`](crate::Client::score), ended by
/// [`open`](ScoreBuilder::open) or [`run`](ScoreBuilder::run).
#[derive(Clone)]
#[must_use]
pub struct ScoreBuilder {
    connection: Connection,
    evaluators: Vec<Evaluator>,
    specification: Specification,
    truth_geometry: Geometry,
    detection_geometry: Geometry,
    live: Option<Live>,
    batching: Batching,
    timeout: Option<Duration>,
}

impl ScoreBuilder {
    pub(crate) fn new(connection: Connection, evaluators: Vec<Evaluator>) -> Self {
        Self {
            connection,
            evaluators,
            specification: Specification::default(),
            truth_geometry: Geometry::Box,
            detection_geometry: Geometry::Box,
            live: None,
            batching: Batching::default(),
            timeout: None,
        }
    }

    /// Facts that the data cannot give.
    pub fn specification(mut self, specification: Specification) -> Self {
        self.specification = specification;
        self
    }

    /// Shape of the objects of both sides; boxes by default.
    pub fn geometry(self, geometry: Geometry) -> Self {
        self.truth_geometry(geometry).detection_geometry(geometry)
    }

    /// Shape of the truth's objects.
    pub fn truth_geometry(mut self, geometry: Geometry) -> Self {
        self.truth_geometry = geometry;
        self
    }

    /// Shape of the detections.
    pub fn detection_geometry(mut self, geometry: Geometry) -> Self {
        self.detection_geometry = geometry;
        self
    }

    /// When live reports are sent; never by default.
    pub fn live(mut self, live: Live) -> Self {
        self.live = Some(live);
        self
    }

    /// How frames are batched, and what happens if the server is slow.
    pub fn batching(mut self, batching: Batching) -> Self {
        self.batching = batching;
        self
    }

    /// Timeout of the whole stream; none by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Open a stream that takes truth and detections frame by frame, and wait for the server to
    /// accept it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the server refuses the
    /// configuration, or why the stream cannot be opened.
    pub async fn open(self) -> Result<ScoreStream> {
        let first = self.first_request()?;
        let exchange = Arc::new(Exchange {
            monitor: Monitor::new(ScoreState::new(self.batching.clone(), self.live.as_ref())),
            geometries: [self.truth_geometry, self.detection_geometry],
            batching: self.batching,
        });
        let task = converse(
            exchange.clone(),
            self.connection.clone(),
            first,
            self.timeout,
        );
        let task = tokio::spawn(task).abort_handle();
        let stream = ScoreStream { exchange, task };
        stream.exchange.await_start(self.connection.timeout).await?;
        Ok(stream)
    }

    /// Send all frames and wait for the final reports, one for each evaluator. Frames are sent as
    /// fast as the server accepts them.
    ///
    /// # Errors
    ///
    /// The refusal of the server, or the error of the call.
    pub async fn run(
        self,
        truth: impl IntoIterator<Item = Frame>,
        detections: impl IntoIterator<Item = Frame>,
    ) -> Result<Vec<Report>> {
        let batching = Batching::unhurried();
        let batch_frames = batching.batch_frames;
        let stream = self.batching(batching).open().await?;
        let (mut truth, mut detections) = (truth.into_iter(), detections.into_iter());
        loop {
            // Alternate between both sides, so that few frames wait for the other side.
            let true_frames: Vec<_> = truth.by_ref().take(batch_frames).collect();
            let detected: Vec<_> = detections.by_ref().take(batch_frames).collect();
            if true_frames.is_empty() && detected.is_empty() {
                return stream.finish().await;
            }
            stream.send_batch(Side::Truth, true_frames).await?;
            stream.send_batch(Side::Detections, detected).await?;
        }
    }

    fn first_request(&self) -> Result<wire::ScoreRequest> {
        self.batching.check()?;
        self.live.as_ref().map_or(Ok(()), Live::check)?;
        if self.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::input("timeout", "0 s", "more than 0 s"));
        }
        let configuration = wire::ScoreConfiguration {
            specification: Some(self.specification.encode(&self.evaluators)?),
            truth_geometry: self.truth_geometry.encode(),
            detection_geometry: self.detection_geometry.encode(),
            live_reporting: self.live.as_ref().map(encode_live),
        };
        Ok(wire::ScoreRequest {
            message: Some(Asked::Configuration(configuration)),
        })
    }
}

/// A stream that is being scored.
///
/// Every method may be called from any task and thread, by reference; frames of one task are sent
/// in its order. Methods may be cancelled at any await point: `tokio::time::timeout` around one
/// limits it, and the stream continues. A stream that is dropped before
/// [`finish`](ScoreStream::finish) is cancelled.
#[derive(Debug)]
pub struct ScoreStream {
    exchange: Arc<Exchange>,
    task: AbortHandle,
}

impl ScoreStream {
    /// Version of the server.
    #[must_use]
    pub fn server_version(&self) -> String {
        self.started().server_version
    }

    /// Limits of this stream, by the names of the server's settings.
    #[must_use]
    pub fn limits(&self) -> BTreeMap<String, i64> {
        self.started().limits
    }

    /// The newest live report; `None` before the first one.
    #[must_use]
    pub fn latest(&self) -> Option<LiveReport> {
        self.exchange.monitor.lock().latest().cloned()
    }

    /// Send one whole frame of the truth; returns as soon as it is queued. Each frame is sent once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`](crate::ErrorKind::Input) if the shape of an object differs from that of
    /// the stream, [`ErrorKind::BackPressure`](crate::ErrorKind::BackPressure) if the queue is
    /// full, as the policy says, or the error with which the stream failed.
    pub async fn send_truth(&self, frame: Frame) -> Result<()> {
        self.exchange.put_frame(Side::Truth, frame).await
    }

    /// Send one whole frame of detections, like [`send_truth`](ScoreStream::send_truth).
    ///
    /// # Errors
    ///
    /// Those of [`send_truth`](ScoreStream::send_truth).
    pub async fn send(&self, frame: Frame) -> Result<()> {
        self.exchange.put_frame(Side::Detections, frame).await
    }

    /// Send many whole frames; they do not wait for others.
    ///
    /// # Errors
    ///
    /// Those of [`send_truth`](ScoreStream::send_truth).
    pub async fn send_batch(&self, side: Side, frames: Vec<Frame>) -> Result<()> {
        let geometry = self.exchange.geometries[side as usize];
        frames.iter().try_for_each(|frame| frame.check(geometry))?;
        match frames.is_empty() {
            true => Ok(()),
            false => self.exchange.put(side, Item::Whole(frames)).await,
        }
    }

    /// Live reports as they come, until the stream ends; each goes to one reader. The last item is
    /// the error that the stream failed with, if it did.
    #[must_use]
    pub fn live_reports(&self) -> BoxStream<'static, Result<LiveReport>> {
        let next = |exchange: Option<Arc<Exchange>>| async move {
            let exchange = exchange?;
            let report = exchange
                .monitor
                .wait(None, ScoreState::next_report)
                .await??;
            let goes_on = report.is_ok().then_some(exchange);
            Some((report, goes_on))
        };
        stream::unfold(Some(self.exchange.clone()), next).boxed()
    }

    /// Send the queued frames, end the input, and wait for the final reports, one for each
    /// evaluator in the requested order. May be called again.
    ///
    /// # Errors
    ///
    /// The error with which the stream failed.
    pub async fn finish(&self) -> Result<Vec<Report>> {
        self.exchange.monitor.update(ScoreState::close);
        self.exchange
            .monitor
            .wait(None, |state| state.ended().then_some(()))
            .await;
        self.exchange.monitor.lock().final_reports()
    }

    /// End the stream at once, without a report; does nothing if it has ended.
    pub fn cancel(&self) {
        self.exchange
            .monitor
            .update(|state| state.end(Some(cancelled())));
        self.task.abort();
    }

    fn started(&self) -> Started {
        self.exchange
            .monitor
            .lock()
            .started()
            .cloned()
            .unwrap_or_default()
    }
}

impl Drop for ScoreStream {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// What the stream and its task share.
#[derive(Debug)]
struct Exchange {
    monitor: Monitor<ScoreState>,
    geometries: [Geometry; 2],
    batching: Batching,
}

impl Exchange {
    async fn await_start(&self, timeout: Duration) -> Result<()> {
        let limit = later(Instant::now(), timeout);
        let started = |state: &mut ScoreState| match state.started() {
            Some(_) => Some(Ok(())), // later errors are reported by later calls
            None => state.ended().then(|| state.check()),
        };
        let outcome = self.monitor.wait(Some(limit), started).await;
        outcome.unwrap_or_else(|| Err(not_started(timeout)))
    }

    async fn put_frame(&self, side: Side, frame: Frame) -> Result<()> {
        frame.check(self.geometries[side as usize])?;
        self.put(side, Item::Single(frame)).await
    }

    async fn put(&self, side: Side, item: Item) -> Result<()> {
        let before = self.monitor.lock().outbox().due();
        let refused = self.monitor.lock().admit(side, item, Instant::now())?;
        let waited = refused.is_some();
        if let Some(item) = refused {
            self.wait_for_room(side, item).await?;
        }
        // The sender sleeps until something is due; only an earlier time concerns it. While this
        // task waited it may have sent all that there was, and sleeps without a time.
        if waited || self.monitor.lock().outbox().due() != before {
            self.monitor.notify();
            yield_now().await; // a caller that never waits would leave the sender no turn
        }
        Ok(())
    }

    async fn wait_for_room(&self, side: Side, item: Item) -> Result<()> {
        if self.batching.policy == Policy::Raise {
            return Err(self.monitor.lock().refusal(None));
        }
        let mut item = Some(item);
        let limit = self
            .batching
            .block_timeout
            .map(|time| later(Instant::now(), time));
        let admit = |state: &mut ScoreState| match state.admit(side, item.take()?, Instant::now()) {
            Ok(refused) => {
                item = refused;
                item.is_none().then_some(Ok(()))
            }
            Err(error) => Some(Err(error)),
        };
        let outcome = self.monitor.wait(limit, admit).await;
        outcome.unwrap_or_else(|| Err(self.monitor.lock().refusal(self.batching.block_timeout)))
    }

    async fn next_batch(&self) -> Option<Batch> {
        loop {
            let now = Instant::now();
            let (outcome, due) = {
                let mut state = self.monitor.lock();
                (
                    state.take(now).ok_or(state.nothing_to_send()),
                    state.outbox().due(),
                )
            };
            match outcome {
                Ok(batch) => {
                    self.monitor.notify(); // there is room in the queue
                    return Some(batch);
                }
                Err(true) => return None,
                Err(false) => {}
            }
            let changed = |state: &mut ScoreState| {
                (state.nothing_to_send() || state.outbox().due() != due).then_some(())
            };
            self.monitor.wait(due.instant(now), changed).await;
        }
    }

    fn encode(&self, batch: &Batch) -> wire::ScoreRequest {
        let message = encode_frames(&batch.frames, self.geometries[batch.side as usize]);
        wire::ScoreRequest {
            message: Some(match batch.side {
                Side::Truth => Asked::Truth(message),
                Side::Detections => Asked::Detections(message),
            }),
        }
    }
}

/// Ends a stream whose task has ended, even by a bug in this crate.
struct EndOnDrop(Arc<Exchange>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let error = Error::internal("the stream's task has ended before the stream");
        self.0.monitor.update(|state| state.end(Some(error)));
    }
}

/// Make the call and read it to its end.
async fn converse(
    exchange: Arc<Exchange>,
    connection: Connection,
    first: wire::ScoreRequest,
    limit: Option<Duration>,
) {
    let guard = EndOnDrop(exchange);
    let exchange = &guard.0;
    let requests = requests(exchange.clone(), first);
    let call = read(exchange, &connection, requests, limit);
    let outcome = match limit {
        None => call.await,
        Some(limit) => timeout(limit, call)
            .await
            .unwrap_or_else(|_| Err(out_of_time(limit))),
    };
    exchange.monitor.update(|state| state.end(outcome.err()));
}

fn requests(
    exchange: Arc<Exchange>,
    first: wire::ScoreRequest,
) -> impl Stream<Item = wire::ScoreRequest> + Send {
    let rest = stream::unfold(exchange, |exchange| async move {
        let batch = exchange.next_batch().await?;
        Some((exchange.encode(&batch), exchange))
    });
    stream::once(future::ready(first)).chain(rest)
}

async fn read(
    exchange: &Exchange,
    connection: &Connection,
    requests: impl Stream<Item = wire::ScoreRequest> + Send + 'static,
    limit: Option<Duration>,
) -> Result<()> {
    let mut service = connection.scoring_service();
    let call = service
        .score(connection.stream_request(requests, limit))
        .await;
    let mut responses = call.map_err(|status| call_error(&status))?.into_inner();
    while let Some(said) = responses
        .message()
        .await
        .map_err(|status| call_error(&status))?
    {
        let event = decode(said)?;
        exchange.monitor.update(|state| state.receive(event));
    }
    Ok(())
}

fn decode(said: wire::ScoreResponse) -> Result<Event> {
    match said.message {
        Some(Said::Started(started)) => Ok(Event::Started(Started {
            server_version: started.server_version,
            limits: started.limits.into_iter().collect(),
        })),
        Some(Said::Live(live)) => Ok(Event::Live(LiveReport::decode(live))),
        Some(Said::Final(last)) => Ok(Event::Final(
            last.reports.into_iter().map(Report::decode).collect(),
        )),
        None => Err(Error::internal(
            "the server sent a message that this client does not know",
        )),
    }
}

fn encode_live(live: &Live) -> wire::LiveReporting {
    wire::LiveReporting {
        frame_interval: live.every_frames as i64,
        time_interval: live.every.and_then(|every| every.try_into().ok()),
        summary_only: live.summary_only,
    }
}

//! The state of an append stream, without any I/O.
//!
//! Frames go from the outbox into the window when they are sent, and stay there until the server
//! has acknowledged them. After a break the window is sent again from the server's next offset on,
//! under the epoch of the first opening: an older writer that returns never excludes a newer one.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tonic::Code;

use crate::clock::{later, Due};
use crate::error::{counted, Error, ErrorKind, Result};
use crate::frames::{Frame, Side};
use crate::hosting::StreamInfo;
use crate::outbox::{total_size, Item, Outbox};
use crate::retrying::{is_break, Retrying};
use crate::settings::{Batching, Delivery};

/// A batch of frames, and the offset of its first frame in the stream.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) offset: u64,
    pub(crate) frames: Arc<[Frame]>,
}

impl Sent {
    /// Offset of the frame after the last one.
    fn end(&self) -> u64 {
        self.offset + self.frames.len() as u64
    }
}

/// The state of one append stream.
#[derive(Debug)]
pub(crate) struct AppendState {
    outbox: Outbox,
    opened: StreamInfo,
    batching: Batching,
    delivery: Delivery,
    retrying: Retrying,
    acknowledged: u64,
    to_skip: u64,
    window: VecDeque<Sent>,
    window_frames: usize,
    window_bytes: usize,
    /// Whether the server accepts smaller batches than those of the window.
    too_large: bool,
    /// Number of batches of the window that were sent over the present connection.
    sent: usize,
    /// Offset after the last frame that entered the window.
    taken: u64,
    quiet_since: Option<Instant>,
    /// Number of the present connection; a sender of another one stops.
    connection: u64,
    reconnections: u64,
    broken: bool,
    closing: bool,
    ended: bool,
    error: Option<Error>,
}

impl AppendState {
    /// Start as a stream that has just been opened.
    ///
    /// `replay`: the caller sends from its first frame again, so that frames that were durable at
    /// opening are left out.
    pub(crate) fn new(
        opened: StreamInfo,
        batching: Batching,
        delivery: Delivery,
        replay: bool,
    ) -> Self {
        Self {
            outbox: Outbox::new(batching.clone()),
            retrying: Retrying::new(delivery.retry.clone()),
            acknowledged: opened.next_offset,
            to_skip: if replay { opened.next_offset } else { 0 },
            taken: opened.next_offset,
            opened,
            batching,
            delivery,
            window: VecDeque::new(),
            window_frames: 0,
            window_bytes: 0,
            too_large: false,
            sent: 0,
            quiet_since: None,
            connection: 0,
            reconnections: 0,
            broken: false,
            closing: false,
            ended: false,
            error: None,
        }
    }

    /// Number of frames of the stream that are known to be durable.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Number of times that delivery continued after a break.
    pub(crate) fn reconnections(&self) -> u64 {
        self.reconnections
    }

    pub(crate) fn broken(&self) -> bool {
        self.broken
    }

    pub(crate) fn closing(&self) -> bool {
        self.closing
    }

    /// Whether nothing more is delivered.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// Whether every frame is durable, or the stream has failed.
    pub(crate) fn drained(&self) -> bool {
        self.ended || self.idle()
    }

    /// Whether there is nothing to deliver, so that no connection is needed.
    pub(crate) fn idle(&self) -> bool {
        self.window.is_empty() && self.outbox.frames() == 0
    }

    /// Number of accepted frames that are not known to be durable.
    pub(crate) fn undelivered(&self) -> usize {
        self.window_frames + self.outbox.frames()
    }

    /// Whether this side of a call may be closed.
    pub(crate) fn nothing_to_send(&self) -> bool {
        self.ended || (self.closing && self.idle())
    }

    /// Time at which the connection counts as broken; `None` if no answer is due.
    pub(crate) fn stalled_at(&self) -> Option<Instant> {
        let since = self.quiet_since.filter(|_| self.sent > 0)?;
        Some(later(since, self.delivery.acknowledge_timeout))
    }

    /// Time at which `take` has a batch; never if nothing waits or the window is full.
    pub(crate) fn due(&self) -> Due {
        if self.sent < self.window.len() {
            return Due::Now;
        }
        if self.has_room() {
            self.outbox.due()
        } else {
            Due::Never
        }
    }

    /// Accept frames if there is room or they are durable already; otherwise give them back.
    pub(crate) fn admit(&mut self, item: Item, now: Instant) -> Result<Option<Item>> {
        self.check()?;
        if self.closing || self.ended {
            return Err(Error::closed(
                "the stream is closed and takes no more frames",
            ));
        }
        let count = item.frame_count() as u64;
        if count <= self.to_skip {
            self.to_skip -= count;
            return Ok(None);
        }
        let rest = without_first(item, self.to_skip as usize);
        self.to_skip = 0;
        Ok(self.outbox.offer(Side::Detections, rest, now))
    }

    /// The error for frames that were not accepted, after a wait or without one.
    pub(crate) fn refusal(&self, waited: Option<Duration>) -> Error {
        Error::back_pressure(format!(
            "the queue was full{}: {} to be sent and {} to be acknowledged, \
             queue_frames is {}, window_frames is {}",
            waited
                .map(|time| format!(" for {time:?}"))
                .unwrap_or_default(),
            counted(self.outbox.frames() as u64, "frame"),
            self.window_frames,
            self.batching.queue_frames,
            self.delivery.window_frames,
        ))
    }

    /// The next batch to send; `None` if none is due or the window is full.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Sent> {
        if self.ended || (self.sent == self.window.len() && !self.fill(now)) {
            return None;
        }
        if self.sent == 0 {
            self.quiet_since = Some(now);
        }
        self.sent += 1;
        self.window.get(self.sent - 1).cloned()
    }

    /// Drop the frames before an offset, which are durable; returns whether any of them were not
    /// known to be.
    pub(crate) fn acknowledge(&mut self, next_offset: u64, now: Instant) -> Result<bool> {
        if next_offset > self.taken {
            return Err(Error::internal(format!(
                "the server acknowledged {}, but only {} had been sent",
                counted(next_offset, "frame"),
                self.taken
            )));
        }
        self.quiet_since = Some(now);
        if next_offset <= self.acknowledged {
            return Ok(false);
        }
        self.retrying.progress();
        self.acknowledged = next_offset;
        while self
            .window
            .front()
            .is_some_and(|oldest| oldest.end() <= next_offset)
        {
            self.release();
        }
        self.cut(next_offset);
        Ok(true)
    }

    /// Resume over a new connection from the server's state of the stream, `None` if it has none;
    /// returns whether more frames are durable than before.
    pub(crate) fn resume(&mut self, known: Option<&StreamInfo>, now: Instant) -> Result<bool> {
        if let Some(known) = known.filter(|known| known.epoch != self.opened.epoch) {
            return Err(superseded(known, &self.opened));
        }
        let found = known.map_or(0, |known| known.next_offset);
        if found < self.acknowledged {
            return Err(set_back(found, self.acknowledged));
        }
        let grown = self.acknowledge(found, now)?;
        self.sent = 0;
        self.broken = false;
        self.reconnections += 1;
        if self.too_large {
            self.put_back();
        }
        Ok(grown)
    }

    /// Record that the connection is gone.
    pub(crate) fn disconnect(&mut self) {
        self.connection += 1;
        self.sent = 0;
    }

    /// Number of the present connection.
    pub(crate) fn connection(&self) -> u64 {
        self.connection
    }

    /// Record a break; returns the time to wait, or the error if a retry is useless.
    pub(crate) fn delay(&mut self, error: Error, now: Instant) -> Result<Duration> {
        self.broken = true;
        self.sent = 0;
        if self.idle() && is_break(&error) {
            return Ok(Duration::ZERO); // without frames, there is nothing to retry
        }
        let sizes = self.window.iter().map(|batch| batch.frames.len());
        let largest = sizes.max().unwrap_or(0);
        if self.outbox.cut_smaller(&error, largest) {
            self.too_large = true;
            return self.retrying.again(error, now);
        }
        self.retrying.delay(error, now)
    }

    /// Make all frames due now.
    pub(crate) fn flush(&mut self) {
        self.outbox.flush();
    }

    /// Accept no more frames.
    pub(crate) fn close(&mut self) {
        self.closing = true;
        self.flush();
    }

    /// Record the end of delivery; the first cause counts.
    pub(crate) fn end(&mut self, error: Option<Error>) {
        if !self.ended {
            self.ended = true;
            self.closing = true;
            self.error = error;
        }
    }

    /// The error of the stream, if it failed.
    pub(crate) fn check(&self) -> Result<()> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// The error of the stream, if it has undelivered frames.
    pub(crate) fn check_delivered(&self) -> Result<()> {
        if self.idle() {
            Ok(())
        } else {
            self.check()
        }
    }

    fn has_room(&self) -> bool {
        self.window.is_empty()
            || (self.window_frames < self.delivery.window_frames
                && self.window_bytes < self.delivery.window_bytes)
    }

    /// Move the due batch, if any, into the window.
    fn fill(&mut self, now: Instant) -> bool {
        if !self.has_room() {
            return false;
        }
        let Some(batch) = self.outbox.take(now) else {
            return false;
        };
        let sent = Sent {
            offset: self.taken,
            frames: batch.frames.into(),
        };
        self.taken = sent.end();
        self.window_frames += sent.frames.len();
        self.window_bytes += total_size(&sent.frames);
        self.window.push_back(sent);
        true
    }

    fn release(&mut self) {
        if let Some(oldest) = self.window.pop_front() {
            self.window_frames -= oldest.frames.len();
            self.window_bytes -= total_size(&oldest.frames);
            self.sent = self.sent.saturating_sub(1);
        }
    }

    /// Return unacknowledged frames to the outbox, to be cut again.
    fn put_back(&mut self) {
        while let Some(newest) = self.window.pop_back() {
            self.taken = newest.offset;
            self.outbox.put_back(Side::Detections, &newest.frames);
        }
        self.window_frames = 0;
        self.window_bytes = 0;
        self.too_large = false;
    }

    /// Cut the oldest batch to its part from an offset on.
    fn cut(&mut self, offset: u64) {
        let Some(oldest) = self
            .window
            .front_mut()
            .filter(|oldest| oldest.offset < offset)
        else {
            return;
        };
        let (gone, rest) = oldest.frames.split_at((offset - oldest.offset) as usize);
        self.window_frames -= gone.len();
        self.window_bytes -= total_size(gone);
        *oldest = Sent {
            offset,
            frames: rest.into(),
        };
    }
}

/// A single frame is skipped or not; of many the rest is left.
fn without_first(item: Item, count: usize) -> Item {
    match item {
        Item::Whole(mut frames) => Item::Whole(frames.split_off(count)),
        single @ Item::Single(_) => single,
    }
}

fn superseded(known: &StreamInfo, opened: &StreamInfo) -> Error {
    let message = format!(
        "another writer has opened stream {:?} with epoch {}; this writer has epoch {} and \
         must stop",
        known.stream, known.epoch, opened.epoch
    );
    Error::with_code(Code::Aborted, message)
        .and_reason("EPOCH_STALE")
        .and_kind(ErrorKind::Superseded)
}

fn set_back(found: u64, acknowledged: u64) -> Error {
    let message = format!(
        "the server has {} of the stream but had acknowledged {acknowledged}: it has lost frames",
        counted(found, "frame")
    );
    Error::new(ErrorKind::Conflict, message).and_reason("STREAM_SET_BACK")
}

//! Frames that wait to be sent: batches them by size and time, and bounds memory.
//!
//! It does no I/O and reads no clock: its caller passes the time and does the waiting, the locking
//! and the sending.

use std::collections::VecDeque;
use std::mem;
use std::time::Instant;

use crate::clock::{later, Due};
use crate::encoding::frame_size;
use crate::error::Error;
use crate::frames::{Frame, Side};
use crate::settings::Batching;

/// Limits that fewer frames in a message may keep, although nobody knows how many.
const MESSAGE_LIMITS: [&str; 7] = [
    "maximum_batch_labels",
    "maximum_batch_objects",
    "maximum_batch_sequences",
    "maximum_message_bytes",
    "maximum_unstored_bytes",
    "maximum_unstored_call_bytes",
    "maximum_unstored_team_bytes",
];

/// What a caller passes in one call.
#[derive(Debug)]
pub(crate) enum Item {
    /// A frame that may wait for others.
    Single(Frame),
    /// Frames that do not.
    Whole(Vec<Frame>),
}

impl Item {
    pub(crate) fn frame_count(&self) -> usize {
        match self {
            Self::Single(_) => 1,
            Self::Whole(frames) => frames.len(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Single(frame) => frame_size(frame),
            Self::Whole(frames) => total_size(frames),
        }
    }
}

/// Maximum bytes of the message that frames would make, without its tables.
pub(crate) fn total_size(frames: &[Frame]) -> usize {
    frames.iter().map(frame_size).sum()
}

/// Frames of one side for one message.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) side: Side,
    pub(crate) frames: Vec<Frame>,
}

/// Frames of one side that need not wait for others.
#[derive(Debug)]
struct Ready {
    side: Side,
    frames: VecDeque<Frame>,
}

/// Single frames of one side that wait for others.
#[derive(Debug, Default)]
struct Gathering {
    frames: VecDeque<Frame>,
    size: usize,
    since: Option<Instant>,
}

const SIDES: [Side; 2] = [Side::Truth, Side::Detections];

/// A bounded queue that batches frames.
#[derive(Debug)]
pub(crate) struct Outbox {
    batching: Batching,
    gathering: [Gathering; 2],
    ready: VecDeque<Ready>,
    frames: usize,
    bytes: usize,
}

impl Outbox {
    pub(crate) fn new(batching: Batching) -> Self {
        Self {
            batching,
            gathering: Default::default(),
            ready: VecDeque::new(),
            frames: 0,
            bytes: 0,
        }
    }

    /// Frames that wait.
    pub(crate) fn frames(&self) -> usize {
        self.frames
    }

    /// Time at which `take` has a batch.
    pub(crate) fn due(&self) -> Due {
        if !self.ready.is_empty() {
            return Due::Now;
        }
        let began = self
            .gathering
            .iter()
            .filter_map(|waiting| waiting.since)
            .min();
        began.map_or(Due::Never, |since| {
            Due::At(later(since, self.batching.batch_interval))
        })
    }

    /// Make no larger batches than a server accepts, as far as it states its limits.
    pub(crate) fn keep_to<'a>(&mut self, limits: impl IntoIterator<Item = (&'a String, &'a i64)>) {
        self.batching.keep_to(limits);
    }

    /// Make smaller batches than one that a server refused, which has at most so many frames;
    /// returns whether earlier ones were larger.
    pub(crate) fn cut_smaller(&mut self, error: &Error, frames: usize) -> bool {
        let metadata = error.metadata();
        let maximum = metadata.get("maximum").and_then(|text| text.parse().ok());
        let Some((name, maximum)) = metadata.get("limit").zip(maximum) else {
            return false;
        };
        let before = (self.batching.batch_frames, self.batching.batch_bytes);
        self.keep_to([(name, &maximum)]);
        let is_same = (self.batching.batch_frames, self.batching.batch_bytes) == before;
        if is_same && frames > 1 && MESSAGE_LIMITS.contains(&name.as_str()) {
            self.batching.batch_frames = frames / 2;
            return true;
        }
        !is_same
    }

    /// Accept a frame or a batch if there is room for it; otherwise give it back.
    pub(crate) fn offer(&mut self, side: Side, item: Item, now: Instant) -> Option<Item> {
        let (count, size) = (item.frame_count(), item.size());
        let full = self.frames + count > self.batching.queue_frames
            || self.bytes + size > self.batching.queue_bytes;
        if self.frames > 0 && full {
            return Some(item);
        }
        self.frames += count;
        self.bytes += size;
        match item {
            Item::Single(frame) => self.gather(side, frame, size, now),
            Item::Whole(frames) => {
                self.seal(side);
                self.ready.push_back(Ready {
                    side,
                    frames: frames.into(),
                });
            }
        }
        None
    }

    /// Make all frames due now.
    pub(crate) fn flush(&mut self) {
        SIDES.into_iter().for_each(|side| self.seal(side));
    }

    /// The next due batch, at most as large as a message.
    pub(crate) fn take(&mut self, now: Instant) -> Option<Batch> {
        for side in SIDES {
            let since = self.gathering[side as usize].since;
            if since.is_some_and(|since| now >= later(since, self.batching.batch_interval)) {
                self.seal(side);
            }
        }
        let head = self.ready.front_mut()?;
        let fitting = frames_that_fit(&head.frames, &self.batching);
        let batch = Batch {
            side: head.side,
            frames: head.frames.drain(..fitting).collect(),
        };
        if head.frames.is_empty() {
            self.ready.pop_front();
        }
        self.frames -= batch.frames.len();
        self.bytes -= total_size(&batch.frames);
        Some(batch)
    }

    /// Return the frames that were taken last, to be cut again.
    pub(crate) fn put_back(&mut self, side: Side, frames: &[Frame]) {
        self.frames += frames.len();
        self.bytes += total_size(frames);
        let frames = frames.to_vec().into();
        self.ready.push_front(Ready { side, frames });
    }

    fn gather(&mut self, side: Side, frame: Frame, size: usize, now: Instant) {
        let waiting = &self.gathering[side as usize];
        if !waiting.frames.is_empty() && waiting.size + size > self.batching.batch_bytes {
            self.seal(side);
        }
        let waiting = &mut self.gathering[side as usize];
        waiting.since.get_or_insert(now);
        waiting.frames.push_back(frame);
        waiting.size += size;
        if waiting.frames.len() >= self.batching.batch_frames {
            self.seal(side);
        }
    }

    fn seal(&mut self, side: Side) {
        let waiting = mem::take(&mut self.gathering[side as usize]);
        if !waiting.frames.is_empty() {
            self.ready.push_back(Ready {
                side,
                frames: waiting.frames,
            });
        }
    }
}

/// Number of leading frames that fit into a message, in which either all objects have masks or none
/// has; at least one.
fn frames_that_fit(frames: &VecDeque<Frame>, batching: &Batching) -> usize {
    let masked = frames.iter().find_map(Frame::masked);
    let sizes = frames
        .iter()
        .take(batching.batch_frames)
        .take_while(|frame| frame.masked().is_none_or(|own| Some(own) == masked))
        .scan(0, |size, frame| {
            *size += frame_size(frame);
            Some(*size)
        });
    sizes
        .take_while(|size| *size <= batching.batch_bytes)
        .count()
        .max(1)
}

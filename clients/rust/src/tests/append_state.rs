//! The state of an append stream, against a model server that breaks, loses answers and continues.

use std::time::{Duration, Instant};

use fastrand::Rng;
use tonic::Code;

use super::{numbers, whole};
use crate::append_state::{AppendState, Sent};
use crate::error::{Error, ErrorKind};
use crate::hosting::StreamInfo;
use crate::retrying::ended_early;
use crate::settings::{Batching, Delivery};

fn broken() -> Error {
    Error::with_code(Code::Unavailable, "broken")
}

fn stream(epoch: i64, next_offset: u64) -> StreamInfo {
    StreamInfo {
        stream: "default".to_owned(),
        epoch,
        next_offset,
    }
}

fn new_state(next_offset: u64, delivery: Delivery, replay: bool) -> AppendState {
    let batching = Batching::default().batch_frames(3).queue_frames(1_000_000);
    AppendState::new(stream(1, next_offset), batching, delivery, replay)
}

/// A server that stores whole batches by the offset protocol.
#[derive(Default)]
struct Model {
    stored: Vec<i64>,
}

impl Model {
    /// Store a batch unless it is stored already; returns whether it is stored.
    fn append(&mut self, batch: &Sent) -> bool {
        let (offset, numbers) = (batch.offset as usize, numbers(&batch.frames));
        if offset == self.stored.len() {
            self.stored.extend(&numbers);
        }
        self.stored.get(offset..offset + numbers.len()) == Some(&numbers[..])
    }

    fn known(&self) -> StreamInfo {
        stream(1, self.stored.len() as u64)
    }
}

/// A state, the server that it delivers to, and the number of frames that it got.
struct Play {
    state: AppendState,
    server: Model,
    offered: i64,
    now: Instant,
}

impl Play {
    fn offer(&mut self, count: i64) {
        let item = whole(self.offered..self.offered + count);
        assert!(self.state.admit(item, self.now).unwrap().is_none());
        self.offered += count;
    }

    fn send(&mut self, count: i64) {
        for _ in 0..count {
            if let Some(batch) = self.state.take(self.now) {
                assert!(self.server.append(&batch));
            }
        }
    }

    /// Batches that never arrive; whatever is sent after them is refused until a break.
    fn lose(&mut self, count: i64) {
        let lost = (0..count).filter_map(|_| self.state.take(self.now)).count();
        if lost > 0 {
            self.break_off();
        }
    }

    fn answer(&mut self, count: i64) {
        let known = self.server.stored.len() as u64;
        let next_offset = if count % 2 == 1 {
            known
        } else {
            self.state.acknowledged()
        };
        self.state.acknowledge(next_offset, self.now).unwrap();
    }

    fn break_off(&mut self) {
        self.state.delay(broken(), self.now).unwrap();
        self.state
            .resume(Some(&self.server.known()), self.now)
            .unwrap();
    }
}

/// Batches arrive or not, answers arrive or not; in the end everything is delivered.
#[test]
fn whatever_breaks_every_frame_is_stored_once_and_in_order() {
    for seed in 0..500 {
        let mut chance = Rng::with_seed(seed);
        let delivery = Delivery::default().window_frames(chance.usize(1..=20));
        let state = new_state(0, delivery, false);
        let mut play = Play {
            state,
            server: Model::default(),
            offered: 0,
            now: Instant::now(),
        };
        for _ in 0..chance.usize(0..60) {
            let count = chance.i64(1..=7);
            match chance.u8(0..5) {
                0 => play.offer(count),
                1 => play.send(count),
                2 => play.lose(count),
                3 => play.answer(count),
                _ => play.break_off(),
            }
            assert!(play.state.acknowledged() <= play.server.stored.len() as u64);
        }
        play.break_off();
        for _ in 0..200 {
            play.send(7);
            play.answer(7);
        }
        assert_eq!(
            play.server.stored,
            (0..play.offered).collect::<Vec<_>>(),
            "seed {seed}"
        );
        assert!(play.state.drained());
        assert_eq!(play.state.acknowledged(), play.offered as u64);
    }
}

fn too_large(limit: &str, maximum: &str) -> Error {
    Error::with_code(Code::ResourceExhausted, "too large")
        .and_reason("LIMIT_EXCEEDED")
        .and_fact("limit", limit)
        .and_fact("maximum", maximum)
}

/// Of 7 frames in batches of 3 the server has the first 3, and accepts 2 at a time from now on.
#[test]
fn batches_are_cut_anew_where_a_server_takes_smaller_ones_than_it_said() {
    let (mut state, now) = (new_state(0, Delivery::default(), false), Instant::now());
    state.admit(whole(0..7), now).unwrap();
    while state.take(now).is_some() {}
    assert_eq!(
        state
            .delay(too_large("maximum_batch_frames", "2"), now)
            .unwrap(),
        Duration::ZERO
    );
    assert!(state.resume(Some(&stream(1, 3)), now).unwrap());
    assert_eq!(state.undelivered(), 4);
    for expected in [vec![3, 4], vec![5], vec![6]] {
        let batch = state.take(now).unwrap();
        assert_eq!(batch.offset as i64, expected[0]);
        assert_eq!(numbers(&batch.frames), expected);
    }
    assert!(state.take(now).is_none());
    assert_eq!(state.undelivered(), 4);
}

#[test]
fn a_batch_that_cannot_be_cut_smaller_ends_the_stream() {
    let (mut state, now) = (new_state(0, Delivery::default(), false), Instant::now());
    state.admit(whole(0..3), now).unwrap();
    state
        .delay(too_large("maximum_batch_frames", "2"), now)
        .unwrap();
    state
        .delay(too_large("maximum_batch_frames", "1"), now)
        .unwrap();
    let error = state
        .delay(too_large("maximum_batch_frames", "1"), now)
        .unwrap_err();
    assert_eq!(error.reason(), "LIMIT_EXCEEDED");
}

#[test]
fn a_batch_over_another_limit_is_halved_unless_no_cut_helps() {
    let (mut state, now) = (new_state(0, Delivery::default(), false), Instant::now());
    state.admit(whole(0..5), now).unwrap();
    while state.take(now).is_some() {}
    let refusal = too_large("maximum_batch_objects", "4");
    let of_a_frame = too_large("maximum_frame_objects", "4");
    assert!(state.delay(of_a_frame, now).is_err());
    state.delay(refusal.clone(), now).unwrap();
    assert!(!state.resume(Some(&stream(1, 0)), now).unwrap());
    for number in 0..5 {
        assert_eq!(numbers(&state.take(now).unwrap().frames), [number]);
    }
    assert!(state.delay(refusal, now).is_err());
}

/// A batch of 3, of which 2 are stored, as by a server that cuts batches.
#[test]
fn a_batch_of_which_a_part_is_durable_is_sent_from_there_on() {
    let (mut state, now) = (new_state(0, Delivery::default(), false), Instant::now());
    state.admit(whole(0..3), now).unwrap();
    assert!(state.take(now).is_some());
    state.delay(broken(), now).unwrap();
    assert!(state.resume(Some(&stream(1, 2)), now).unwrap());
    let rest = state.take(now).unwrap();
    assert_eq!((rest.offset, numbers(&rest.frames)), (2, vec![2]));
}

/// Batches of 3 and 2, of which 4 frames are durable: if all frames are sent again from the first
/// on, the fifth is sent.
#[test]
fn a_replay_leaves_out_what_was_durable_at_opening() {
    let (mut state, now) = (new_state(4, Delivery::default(), true), Instant::now());
    assert!(state.admit(whole(0..3), now).unwrap().is_none());
    assert!(state.idle());
    assert!(state.admit(whole(3..5), now).unwrap().is_none());
    let rest = state.take(now).unwrap();
    assert_eq!((rest.offset, numbers(&rest.frames)), (4, vec![4]));
}

#[test]
fn frames_that_were_never_sent_cannot_be_durable() {
    let mut state = new_state(0, Delivery::default(), false);
    let error = state.acknowledge(1, Instant::now()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert_eq!(
        error.message(),
        "the server acknowledged 1 frame, but only 0 had been sent"
    );
}

#[test]
fn an_acknowledgement_that_is_old_says_nothing_new() {
    let mut state = new_state(5, Delivery::default(), false);
    assert!(!state.acknowledge(3, Instant::now()).unwrap());
    assert_eq!(state.acknowledged(), 5);
}

#[test]
fn a_stream_that_is_not_as_it_was_cannot_be_resumed() {
    let cases = [
        (Some(stream(2, 5)), ErrorKind::Superseded, "EPOCH_STALE"),
        (Some(stream(1, 4)), ErrorKind::Conflict, "STREAM_SET_BACK"),
        (None, ErrorKind::Conflict, "STREAM_SET_BACK"),
    ];
    for (known, kind, reason) in cases {
        let mut state = new_state(5, Delivery::default(), false);
        let error = state.resume(known.as_ref(), Instant::now()).unwrap_err();
        assert_eq!((error.kind(), error.reason()), (kind, reason));
    }
}

/// Within 30 s of the last answer or, before the first, of sending; never with all answered.
#[test]
fn a_connection_stalls_when_what_was_sent_is_not_answered_in_time() {
    let (mut state, start) = (new_state(0, Delivery::default(), false), Instant::now());
    let after = |seconds| start + Duration::from_secs(seconds);
    state.admit(whole(0..6), start).unwrap();
    assert_eq!(state.stalled_at(), None);
    state.take(after(10));
    assert_eq!(state.stalled_at(), Some(after(40)));
    state.take(after(20));
    assert_eq!(state.stalled_at(), Some(after(40)));
    state.acknowledge(3, after(25)).unwrap();
    assert_eq!(state.stalled_at(), Some(after(55)));
    state.acknowledge(6, after(26)).unwrap();
    assert_eq!(state.stalled_at(), None);
}

#[test]
fn a_break_while_nothing_waits_is_not_counted() {
    let (mut state, now) = (new_state(0, Delivery::default(), false), Instant::now());
    for hours in 0..3 {
        let later = now + Duration::from_secs(3600 * hours);
        assert_eq!(state.delay(ended_early(), later).unwrap(), Duration::ZERO);
    }
    let refused = Error::with_code(Code::AlreadyExists, "no");
    assert_eq!(
        state.delay(refused, now).unwrap_err().kind(),
        ErrorKind::Conflict
    );
}

#[test]
fn a_full_window_holds_batches_back_until_frames_are_acknowledged() {
    let (mut state, now) = (
        new_state(0, Delivery::default().window_frames(4), false),
        Instant::now(),
    );
    state.admit(whole(0..9), now).unwrap();
    assert!(state.take(now).is_some());
    assert!(state.take(now).is_some());
    assert!(state.take(now).is_none());
    state.acknowledge(3, now).unwrap();
    assert_eq!(state.take(now).unwrap().offset, 6);
}

#[test]
fn settings_with_which_nothing_would_be_delivered_are_refused() {
    assert!(Delivery::default().window_frames(0).check().is_err());
    assert!(Delivery::default().window_bytes(0).check().is_err());
    assert!(Delivery::default()
        .acknowledge_timeout(Duration::ZERO)
        .check()
        .is_err());
    assert!(Delivery::default().check().is_ok());
}

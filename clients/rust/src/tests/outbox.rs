//! When frames become batches, and how much may wait; with the clock of the test.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;

use super::{boxes, numbers, single, whole};
use crate::clock::Due;
use crate::encoding::{FRAME_BYTES, OBJECT_BYTES};
use crate::frames::{Frame, Object, Side};
use crate::masks::Mask;
use crate::outbox::{Item, Outbox};
use crate::settings::Batching;

/// Bytes that a frame with one box counts.
const BOX_BYTES: usize = FRAME_BYTES + OBJECT_BYTES + 4 * 8;
const SECOND: Duration = Duration::from_secs(1);

fn batching() -> Batching {
    Batching::default().batch_interval(SECOND)
}

fn limits(frames: usize, message_half_bytes: usize) -> BTreeMap<String, i64> {
    let limits = [
        ("maximum_batch_frames", frames),
        ("maximum_message_bytes", 2 * message_half_bytes),
    ];
    limits
        .map(|(name, limit)| (name.to_owned(), limit as i64))
        .into()
}

/// Everything that is due: side and frame numbers of each batch.
fn due(outbox: &mut Outbox, now: Instant) -> Vec<(Side, Vec<i64>)> {
    std::iter::from_fn(|| outbox.take(now))
        .map(|batch| (batch.side, numbers(&batch.frames)))
        .collect()
}

fn truth(batches: &[&[i64]]) -> Vec<(Side, Vec<i64>)> {
    batches
        .iter()
        .map(|batch| (Side::Truth, batch.to_vec()))
        .collect()
}

#[test]
fn a_frame_is_due_when_its_interval_is_over_and_not_before() {
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    assert_eq!(outbox.due(), Due::Never);
    assert!(outbox.offer(Side::Truth, single(0), start).is_none());
    assert_eq!(outbox.due(), Due::At(start + SECOND));
    assert!(outbox
        .take(start + SECOND - Duration::from_millis(1))
        .is_none());
    assert_eq!(due(&mut outbox, start + SECOND), truth(&[&[0]]));
    assert_eq!(outbox.due(), Due::Never);
}

#[test]
fn the_first_frame_of_a_batch_decides_when_it_is_due() {
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    outbox.offer(Side::Truth, single(0), start);
    outbox.offer(Side::Truth, single(1), start + SECOND * 9 / 10);
    assert_eq!(due(&mut outbox, start + SECOND), truth(&[&[0, 1]]));
    outbox.offer(Side::Truth, single(2), start + SECOND * 2);
    assert_eq!(outbox.due(), Due::At(start + SECOND * 3));
}

#[test]
fn each_side_has_an_interval_of_its_own() {
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    outbox.offer(Side::Truth, single(0), start);
    outbox.offer(Side::Detections, single(0), start + SECOND / 2);
    assert_eq!(due(&mut outbox, start + SECOND), truth(&[&[0]]));
    assert_eq!(outbox.due(), Due::At(start + SECOND * 3 / 2));
    assert_eq!(
        due(&mut outbox, start + SECOND * 3 / 2),
        [(Side::Detections, vec![0])]
    );
}

#[test]
fn a_batch_of_the_greatest_number_of_frames_is_due_at_once() {
    let (mut outbox, start) = (Outbox::new(batching().batch_frames(3)), Instant::now());
    for number in 0..7 {
        outbox.offer(Side::Truth, single(number), start);
    }
    assert_eq!(outbox.due(), Due::Now);
    assert_eq!(due(&mut outbox, start), truth(&[&[0, 1, 2], &[3, 4, 5]]));
    assert_eq!(due(&mut outbox, start + SECOND), truth(&[&[6]]));
}

#[test]
fn a_batch_is_closed_before_it_would_get_too_large() {
    let (mut outbox, start) = (
        Outbox::new(batching().batch_bytes(2 * BOX_BYTES)),
        Instant::now(),
    );
    for number in 0..3 {
        outbox.offer(Side::Truth, single(number), start);
    }
    assert_eq!(due(&mut outbox, start), truth(&[&[0, 1]]));
}

#[test]
fn a_frame_that_is_larger_than_a_batch_goes_alone() {
    let (mut outbox, start) = (
        Outbox::new(batching().batch_bytes(2 * BOX_BYTES)),
        Instant::now(),
    );
    for (number, count) in [(0, 1), (1, 50), (2, 1)] {
        outbox.offer(Side::Truth, Item::Single(boxes(number, count)), start);
    }
    assert_eq!(due(&mut outbox, start + SECOND), truth(&[&[0], &[1], &[2]]));
}

#[test]
fn whole_batches_do_not_wait_and_keep_their_place_behind_single_frames() {
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    outbox.offer(Side::Truth, single(100), start);
    outbox.offer(Side::Truth, whole(0..2), start);
    assert_eq!(due(&mut outbox, start), truth(&[&[100], &[0, 1]]));
}

#[test]
fn whole_batches_are_cut_by_frames_and_by_bytes() {
    let settings = batching().batch_frames(4).batch_bytes(3 * BOX_BYTES);
    let (mut outbox, start) = (Outbox::new(settings), Instant::now());
    outbox.offer(Side::Truth, whole(0..7), start);
    assert_eq!(
        due(&mut outbox, start),
        truth(&[&[0, 1, 2], &[3, 4, 5], &[6]])
    );
}

#[test]
fn a_server_can_make_batches_smaller_but_not_larger() {
    let (mut outbox, start) = (Outbox::new(batching().batch_frames(4)), Instant::now());
    outbox.keep_to(&limits(100, 2 * BOX_BYTES));
    outbox.offer(Side::Truth, whole(0..5), start);
    assert_eq!(due(&mut outbox, start), truth(&[&[0, 1], &[2, 3], &[4]]));
    outbox.keep_to(&limits(1, 1000 * BOX_BYTES));
    outbox.offer(Side::Truth, whole(0..2), start);
    assert_eq!(due(&mut outbox, start), truth(&[&[0], &[1]]));
}

#[test]
fn flush_lets_nothing_wait() {
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    outbox.offer(Side::Truth, single(0), start);
    outbox.offer(Side::Detections, single(1), start);
    outbox.flush();
    let expected = [(Side::Truth, vec![0]), (Side::Detections, vec![1])];
    assert_eq!(due(&mut outbox, start), expected);
}

#[test]
fn a_full_queue_takes_nothing_in_until_something_is_taken_out() {
    let settings = batching().queue_frames(3).batch_frames(2);
    let (mut outbox, start) = (Outbox::new(settings), Instant::now());
    for number in 0..3 {
        assert!(outbox.offer(Side::Truth, single(number), start).is_none());
    }
    assert!(outbox.offer(Side::Detections, single(0), start).is_some());
    assert_eq!(outbox.frames(), 3);
    assert!(outbox.take(start).is_some());
    assert_eq!(outbox.frames(), 1);
    assert!(outbox.offer(Side::Detections, single(0), start).is_none());
}

#[test]
fn a_queue_is_full_by_bytes_too() {
    let (mut outbox, start) = (
        Outbox::new(batching().queue_bytes(2 * BOX_BYTES)),
        Instant::now(),
    );
    assert!(outbox.offer(Side::Truth, single(0), start).is_none());
    assert!(outbox.offer(Side::Truth, single(1), start).is_none());
    assert!(outbox.offer(Side::Truth, single(2), start).is_some());
}

#[test]
fn an_empty_queue_takes_in_what_is_larger_than_itself() {
    let (mut outbox, start) = (Outbox::new(batching().queue_frames(3)), Instant::now());
    assert!(outbox.offer(Side::Truth, whole(0..10), start).is_none());
    assert!(outbox.offer(Side::Truth, single(10), start).is_some());
    assert_eq!(
        due(&mut outbox, start),
        truth(&[&(0..10).collect::<Vec<_>>()])
    );
}

#[test]
fn frames_with_masks_and_without_go_into_messages_of_their_own() {
    let plain = || Object::rectangle([0.0, 0.0, 1.0, 1.0]);
    let masked = || plain().mask(Mask::new(1, 1, [1]));
    let frames = vec![
        Frame::new("a", 0).object(masked()),
        Frame::new("a", 1).object(plain()),
        Frame::new("a", 2),
        Frame::new("a", 3).object(masked()),
        Frame::new("a", 4).object(masked()),
    ];
    let (mut outbox, start) = (Outbox::new(batching()), Instant::now());
    for frame in frames.clone() {
        outbox.offer(Side::Truth, Item::Single(frame), start);
    }
    let expected = truth(&[&[0], &[1, 2], &[3, 4]]);
    assert_eq!(due(&mut outbox, start + SECOND), expected);
    outbox.offer(Side::Truth, Item::Whole(frames), start);
    assert_eq!(due(&mut outbox, start), expected);
}

/// Whatever is offered, and whatever the sizes of batches.
#[test]
fn every_frame_comes_out_once_in_order_and_the_queue_is_empty_again() {
    for seed in 0..300 {
        let mut chance = Rng::with_seed(seed);
        let batch_frames = chance.usize(1..7);
        let settings = batching()
            .batch_frames(batch_frames)
            .batch_bytes(chance.usize(1..500));
        let (mut outbox, start) = (Outbox::new(settings), Instant::now());
        let (mut given, mut taken) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        for step in 0..chance.u32(0..30) {
            let now = start + SECOND * step;
            let side = *chance.choice(&[Side::Truth, Side::Detections]).unwrap();
            let count = chance.i64(1..6);
            let (item, added) = match chance.bool() {
                true => (Item::Single(boxes(count, count as usize)), vec![count]),
                false => (whole(0..count), (0..count).collect()),
            };
            assert!(outbox.offer(side, item, now).is_none());
            given[side as usize].extend(added);
            for (side, batch) in due(&mut outbox, now) {
                taken[side as usize].extend(batch);
            }
        }
        outbox.flush();
        for (side, batch) in due(&mut outbox, start) {
            assert!(batch.len() <= batch_frames);
            taken[side as usize].extend(batch);
        }
        assert_eq!(taken, given, "seed {seed}");
        assert_eq!((outbox.frames(), outbox.due()), (0, Due::Never));
        assert!(outbox.offer(Side::Truth, whole(0..5000), start).is_none());
    }
}

#[test]
fn settings_with_which_nothing_would_be_sent_are_refused() {
    let wrong = [
        Batching::default().batch_frames(0),
        Batching::default().batch_bytes(0),
        Batching::default().queue_frames(0),
        Batching::default().queue_bytes(0),
    ];
    for settings in wrong {
        assert_eq!(settings.check().unwrap_err().reason(), "INVALID_INPUT");
    }
    assert!(Batching::default().check().is_ok());
}

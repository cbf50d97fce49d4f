//! Tests, with their own servers in this process.

mod append_state;
mod checksum;
mod connection;
mod encoding;
mod errors;
mod fake_benchmarks;
mod fake_scoring;
mod fake_submissions;
mod masks;
mod outbox;
mod retrying;
mod score_stream;
mod submission_stream;
mod versions;

use std::future::Future;
use std::time::Duration;

use tokio::time::timeout;

use crate::frames::{Frame, Object};
use crate::outbox::Item;

/// Time that a test waits for something that must happen before it fails.
const WAIT: Duration = Duration::from_secs(60);

/// The output of a future that must complete, or the test fails.
async fn soon<Output>(future: impl Future<Output = Output>) -> Output {
    timeout(WAIT, future)
        .await
        .expect("nothing has happened for a minute")
}

/// Frames of one box each, with these numbers.
fn frames(numbers: std::ops::Range<i64>) -> Vec<Frame> {
    numbers.map(frame).collect()
}

/// A frame of one box.
fn frame(number: i64) -> Frame {
    boxes(number, 1)
}

/// A frame with a number of boxes.
fn boxes(number: i64, count: usize) -> Frame {
    Frame::new("a", number).objects((0..count).map(|_| Object::rectangle([1.0, 1.0, 2.0, 2.0])))
}

fn single(number: i64) -> Item {
    Item::Single(frame(number))
}

fn whole(numbers: std::ops::Range<i64>) -> Item {
    Item::Whole(frames(numbers))
}

fn numbers(frames: &[Frame]) -> Vec<i64> {
    frames.iter().map(|frame| frame.number).collect()
}

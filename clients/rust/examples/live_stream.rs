//! A simulated detector at 30 Hz that sends its boxes to a hosted benchmark as they come.
//!
//!     VIDSCORE_TOKEN=... cargo run --example live_stream localhost:50051 streets my-run
//!
//! Stop the server and start it again: the stream continues. Stop this program and start it again
//! with the same name: it continues, too.

mod table;

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use tokio::time::{interval, MissedTickBehavior};
use vidscore_client::{Client, Delivery, Frame, Object};

const FRAME_INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 30);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (address, benchmark, submission, frames) = match &arguments[..] {
        [address, benchmark, submission] => (address, benchmark, submission, 300),
        [address, benchmark, submission, frames] => {
            (address, benchmark, submission, frames.parse()?)
        }
        _ => return Err("usage: live_stream ADDRESS BENCHMARK SUBMISSION [FRAMES]".into()),
    };
    let mut builder = Client::builder(address);
    if let Ok(token) = env::var("VIDSCORE_TOKEN") {
        builder = builder.token(token);
    }
    let tell = |frames| println!("{frames} frames are durable");
    let stream = builder
        .connect()?
        .submit(benchmark)
        .submission(submission)
        .replay(true)
        .delivery(Delivery::default().on_acknowledged(tell))
        .open()
        .await?;
    let mut clock = interval(FRAME_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 0..frames {
        if number >= stream.next_offset() {
            clock.tick().await; // durable frames need no detector
        }
        stream.send(detect(number)).await?;
    }
    stream.seal(Some(frames)).await?;
    let submission = stream.wait().await?;
    println!(
        "the submission is {} ({})",
        submission.state, submission.state_reason
    );
    for score in stream.scores().await? {
        table::print_scores(&score.report);
    }
    Ok(())
}

/// The output of a detector: a car that moves to the right.
fn detect(number: u64) -> Frame {
    let x = 10.0 + number as f64;
    let car = Object::rectangle([x, 20.0, x + 40.0, 100.0])
        .label("Car")
        .confidence(0.9);
    Frame::new("street", number as i64).object(car)
}

//! Client of [vidscore](https://github.com/vidscore/vidscore): stream truth and detections to a
//! scoring server, frame by frame, and get exact scores back.
//!
//! ```no_run
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> vidscore_client::Result<()> {
//! use vidscore_client::{Client, Frame, Object};
//!
//! let client = Client::connect("localhost:50051")?;
//! let stream = client.score(["neovision2"]).open().await?;
//! for number in 0..300 {
//!     let person = Object::rectangle([10.0, 10.0, 50.0, 90.0]).label("Person");
//!     let frame = Frame::new("walk", number).domain("Tower");
//!     stream.send_truth(frame.clone().object(person.clone())).await?;
//!     stream.send(frame.object(person.confidence(0.9))).await?;
//! }
//! for report in stream.finish().await? {
//!     println!("{}", report.value_of("nmotda", Some("Tower"), Some("Person"), None).unwrap());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Tasks and threads
//!
//! Everything works in the Tokio runtime, of any flavour, in which the [`Client`] was made. A
//! client and its streams may be used from any number of tasks and threads; frames of one task are
//! sent in its order. Each stream has its own task, which ends with it. A future of this crate may
//! be dropped at any time: `tokio::time::timeout` limits any of them.

mod append_state;
mod checksum;
mod client;
mod clock;
mod connection;
mod encoding;
mod error;
mod evaluators;
mod frames;
mod hosting;
mod masks;
mod monitor;
mod names;
mod outbox;
mod reports;
mod retrying;
mod score_state;
mod score_stream;
mod sender;
mod settings;
mod specification;
mod submission_stream;
mod submissions;
#[cfg(test)]
mod tests;
mod versions;
mod watching;

/// Messages and calls of the wire, generated from `protos/`.
#[allow(missing_docs, clippy::all, dead_code)]
mod wire {
    include!(concat!(env!("OUT_DIR"), "/wire.rs"));
}

pub use client::{Client, Health, ServerInfo};
pub use connection::ClientBuilder;
pub use error::{Error, ErrorKind, FieldViolation, Result};
pub use evaluators::{Direction, EvaluatorDescription, Measure};
pub use frames::{Frame, Geometry, Object, ObjectFlags, Side};
pub use hosting::{
    Benchmark, Leaderboard, LeaderboardQuery, LeaderboardRow, StreamInfo, Submission,
    SubmissionScore, SubmissionState, SubmissionUpdate,
};
pub use masks::Mask;
pub use reports::{Coverage, Curve, CurveColumn, LiveReport, Report, Row, Value, Warning};
pub use score_stream::{ScoreBuilder, ScoreStream};
pub use settings::{Batching, Delivery, Keepalive, Live, Policy, Retry, Tls};
pub use specification::{Domain, Evaluator, FrameRange, ParameterValue, Sequence, Specification};
pub use submission_stream::{SubmissionStream, SubmitBuilder};
pub use submissions::Submissions;

/// Version of this crate.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The examples of the README are compiled with the documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! The commands: each does one thing through the client, and returns the result.

use std::process;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use serde_json::{json, Value as Json};
use vidscore_client::{Frame, Live, ScoreStream, SubmissionStream, VERSION};

use crate::arguments::{misuse, Arguments};
use crate::frames_file::FramesFile;
use crate::{documents, Outcome};

/// More live reports than any file of frames causes.
const ALL_REPORTS: usize = 1 << 20;
/// Exit code of a process that ends itself hard.
const KILLED: i32 = 9;

/// Run the command of the command line.
pub async fn run(arguments: &Arguments) -> Outcome<Json> {
    match arguments.command.as_str() {
        "version" => Ok(json!({"language": "rust", "client_version": VERSION})),
        "evaluators" => evaluators(arguments).await,
        "health" => health(arguments).await,
        "score" => score(arguments).await,
        "submit" => submit(arguments).await,
        "watch" => watch(arguments).await,
        "get" => get(arguments).await,
        "cancel" => cancel(arguments).await,
        "leaderboard" => leaderboard(arguments).await,
        unknown => Err(misuse(unknown)),
    }
}

async fn evaluators(arguments: &Arguments) -> Outcome<Json> {
    let found = arguments.client()?.evaluators().await?;
    Ok(json!({"evaluators": found.iter().map(documents::evaluator).collect::<Vec<_>>()}))
}

async fn health(arguments: &Arguments) -> Outcome<Json> {
    let health = format!("{:?}", arguments.client()?.health("").await?);
    let linger = arguments.time("linger-s")?.unwrap_or_default();
    tokio::time::sleep(linger).await; // the client is dropped
    Ok(json!({"status": health.to_uppercase()}))
}

async fn score(arguments: &Arguments) -> Outcome<Json> {
    let file = FramesFile::read(arguments.required("frames")?)?;
    let mut builder = arguments
        .client()?
        .score(file.evaluators.clone())
        .specification(file.specification.clone())
        .truth_geometry(file.truth_geometry)
        .detection_geometry(file.detection_geometry)
        .batching(arguments.batching()?);
    if let Some(frames) = arguments.value("live-every-frames")? {
        builder = builder.live(Live::every_frames(frames).keep_reports(ALL_REPORTS));
    }
    if let Some(deadline) = arguments.time("deadline-s")? {
        builder = builder.timeout(deadline);
    }
    let stream = builder.open().await?;
    if let Some(frames) = arguments.value("cancel-after-frames")? {
        send(&file, &stream, frames).await?;
        stream.cancel();
        return Ok(json!({"cancelled": true}));
    }
    send(&file, &stream, usize::MAX).await?;
    let reports = stream.finish().await?;
    let live: Vec<_> = stream.live_reports().collect().await;
    let live: Result<Vec<_>, _> = live.into_iter().collect();
    Ok(json!({
        "reports": reports.iter().map(documents::report).collect::<Vec<_>>(),
        "live": live?.iter().map(documents::live).collect::<Vec<_>>(),
    }))
}

/// All truth, then all detections, frame by frame, up to a number of frames.
async fn send(file: &FramesFile, stream: &ScoreStream, frames: usize) -> Outcome<()> {
    let mut left = frames;
    for frame in file.truth().take(left) {
        stream.send_truth(frame?).await?;
        left -= 1;
    }
    for frame in file.detections().take(left) {
        stream.send(frame?).await?;
    }
    Ok(())
}

async fn submit(arguments: &Arguments) -> Outcome<Json> {
    let file = FramesFile::read(arguments.required("frames")?)?;
    let acknowledged = Arc::new(Mutex::new(Vec::new()));
    let told = acknowledged.clone();
    let limit: Option<u64> = arguments.value("die-after-acknowledged")?;
    let delivery = arguments.delivery()?.on_acknowledged(move |frames| {
        told.lock().unwrap().push(frames);
        if limit.is_some_and(|limit| frames >= limit) {
            process::exit(KILLED);
        }
    });
    let stream = arguments
        .client()?
        .submit(arguments.required("benchmark")?)
        .submission(arguments.required("submission")?)
        .stream(arguments.text("stream").unwrap_or("default"))
        .title(arguments.text("title").unwrap_or_default())
        .replay(arguments.has("replay"))
        .batching(arguments.batching()?)
        .delivery(delivery)
        .open()
        .await?;
    send_paced(arguments, &file, &stream).await?;
    if arguments.has("close") {
        stream.close().await?;
        return Ok(json!({"undelivered_frames": stream.undelivered_frames()}));
    }
    stream.flush().await?;
    let mut document = ended(arguments, &stream, file.detection_count()).await?;
    document["submission"] = json!(stream.submission());
    document["opened_offset"] = json!(stream.next_offset());
    document["acknowledged"] = json!(*acknowledged.lock().unwrap());
    document["acknowledged_frames"] = json!(stream.acknowledged_frames());
    document["reconnections"] = json!(stream.reconnections());
    Ok(document)
}

/// As fast as possible, or at a number of frames per second.
async fn send_paced(
    arguments: &Arguments,
    file: &FramesFile,
    stream: &SubmissionStream,
) -> Outcome<()> {
    let rate_hz: Option<f64> = arguments.value("rate-hz")?;
    let start = Instant::now();
    for (number, frame) in file.detections().enumerate() {
        let frame: Frame = frame?;
        if let Some(rate_hz) = rate_hz {
            let due = start + Duration::from_secs_f64(number as f64 / rate_hz);
            tokio::time::sleep_until(due.into()).await;
        }
        stream.send(frame).await?;
    }
    Ok(())
}

/// The state of the submission at the end, with its scores.
async fn ended(
    arguments: &Arguments,
    stream: &SubmissionStream,
    frame_count: u64,
) -> Outcome<Json> {
    let (submission, scores) = if arguments.has("no-seal") {
        (
            arguments
                .client()?
                .submissions()
                .get(stream.submission())
                .await?,
            Vec::new(),
        )
    } else {
        stream.seal(Some(frame_count)).await?;
        let limit = arguments.time("wait-s")?.unwrap_or(Duration::from_secs(60));
        let waited = tokio::time::timeout(limit, stream.wait()).await;
        (
            waited.map_err(|_| misuse("it has not ended in time"))??,
            stream.scores().await?,
        )
    };
    Ok(json!({
        "state": submission.state.as_str(),
        "state_reason": submission.state_reason,
        "frame_count": submission.frame_count,
        "scores": scores.iter().map(documents::score).collect::<Vec<_>>(),
    }))
}

async fn watch(arguments: &Arguments) -> Outcome<Json> {
    let client = arguments.client()?;
    let mut watched = client
        .submissions()
        .watch(arguments.required("submission")?)?;
    let mut updates = Vec::new();
    while let Some(update) = watched.next().await {
        let submission = update?.submission;
        updates.push(json!({
            "state": submission.state.as_str(),
            "frame_count": submission.frame_count,
            "revision": submission.revision,
        }));
        if !arguments.has("until-ended") {
            break;
        }
    }
    let state = updates.last().map(|update| update["state"].clone());
    Ok(json!({"updates": updates, "state": state}))
}

async fn get(arguments: &Arguments) -> Outcome<Json> {
    let name = arguments.required("submission")?;
    let submission = arguments.client()?.submissions().get(name).await?;
    Ok(json!({"submission": documents::submission(&submission)}))
}

async fn cancel(arguments: &Arguments) -> Outcome<Json> {
    let name = arguments.required("submission")?;
    let submission = arguments.client()?.submissions().cancel(name).await?;
    Ok(json!({"submission": documents::submission(&submission)}))
}

async fn leaderboard(arguments: &Arguments) -> Outcome<Json> {
    let board = arguments
        .client()?
        .leaderboard(arguments.required("benchmark")?)
        .await?;
    Ok(json!({"rows": board.rows.iter().map(documents::leaderboard_row).collect::<Vec<_>>()}))
}

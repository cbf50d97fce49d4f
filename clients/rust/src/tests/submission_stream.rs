//! Submission streams against a server that follows the offset protocol, and breaks.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::{FutureExt, StreamExt};

use super::fake_submissions::{hosting, Fake, Fault, NAME};
use super::{frame, frames, soon};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::frames::{Frame, Object};
use crate::settings::{Batching, Delivery, Policy, Retry};
use crate::submission_stream::{SubmissionStream, SubmitBuilder};
use crate::wire::vidscore::v1::SubmissionState as State;

fn delivery() -> Delivery {
    let short = Duration::from_millis(5);
    Delivery::default().retry(Retry::default().initial(short).maximum(short))
}

/// Batches of 10 frames.
fn submit(client: &Client) -> SubmitBuilder {
    let batching = Batching::default().batch_frames(10);
    client
        .submit("streets")
        .submission("run")
        .batching(batching)
        .delivery(delivery())
}

async fn send_all(stream: &SubmissionStream, count: i64) -> Result<u64, Error> {
    for number in 0..count {
        soon(stream.send(frame(number))).await?;
    }
    soon(stream.flush()).await
}

fn assert_stored(fake: &Fake, count: i64) {
    assert_eq!(fake.lock().stored, (0..count).collect::<Vec<_>>());
}

#[tokio::test]
async fn frames_are_stored_acknowledged_sealed_and_scored() {
    let (fake, _serving, client) = hosting().await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let list = told.clone();
    let callback = move |frames| list.lock().unwrap().push(frames);
    let builder = submit(&client).delivery(delivery().on_acknowledged(callback));
    let stream = builder.open().await.unwrap();
    assert_eq!((stream.submission(), stream.next_offset()), (NAME, 0));
    assert_eq!(send_all(&stream, 25).await.unwrap(), 25);
    assert_eq!(*told.lock().unwrap(), [10, 20, 25]);
    stream.seal(Some(25)).await.unwrap();
    assert_stored(&fake, 25);
    assert_eq!(fake.lock().sealed_with, [Some(25)]);
    assert_eq!(stream.scores().await.unwrap().len(), 1);
    assert_eq!(
        stream.send(frame(25)).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
}

#[tokio::test]
async fn no_message_is_larger_than_the_server_takes() {
    let (fake, _serving, client) = hosting().await;
    let limits = [
        ("maximum_batch_frames", 4),
        ("maximum_message_bytes", 1 << 20),
    ];
    fake.lock().limits = limits.map(|(name, limit)| (name.to_owned(), limit)).into();
    let stream = submit(&client).open().await.unwrap();
    soon(stream.send_batch(frames(0..10))).await.unwrap();
    assert_eq!(soon(stream.flush()).await.unwrap(), 10);
    assert_eq!(fake.lock().offsets, [(0, 1), (4, 1), (8, 1)]);
}

/// Over one call, and with a call for each batch.
#[tokio::test]
async fn no_fault_loses_a_frame_or_stores_one_twice() {
    use Fault::{BreakAfter, BreakBefore, FallBehind, None as Fine, TakeHalf};
    let faults = [
        Fine,
        BreakAfter,
        BreakBefore,
        Fine,
        TakeHalf,
        FallBehind,
        BreakAfter,
        TakeHalf,
    ];
    for unary in [false, true] {
        let (fake, _serving, client) = hosting().await;
        fake.lock().faults = faults.into();
        let stream = submit(&client)
            .delivery(delivery().unary(unary))
            .open()
            .await
            .unwrap();
        assert_eq!(send_all(&stream, 205).await.unwrap(), 205, "unary: {unary}");
        assert_stored(&fake, 205);
        assert!(fake.lock().faults.is_empty());
        assert!(fake.lock().offsets.iter().all(|(_, epoch)| *epoch == 1));
        assert!(stream.reconnections() >= 4);
    }
}

#[tokio::test]
async fn a_server_that_answers_nothing_counts_as_a_broken_connection() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().faults = [Fault::None, Fault::SayNothing].into();
    let delivery = delivery().acknowledge_timeout(Duration::from_millis(100));
    let stream = submit(&client).delivery(delivery).open().await.unwrap();
    assert_eq!(send_all(&stream, 30).await.unwrap(), 30);
    assert_stored(&fake, 30);
}

#[tokio::test]
async fn a_program_that_starts_again_sends_what_is_not_durable() {
    let (fake, _serving, client) = hosting().await;
    let stream = submit(&client).open().await.unwrap();
    send_all(&stream, 15).await.unwrap();
    drop(stream);
    let stream = submit(&client).replay(true).open().await.unwrap();
    assert_eq!(stream.next_offset(), 15);
    assert_eq!(send_all(&stream, 40).await.unwrap(), 40);
    assert_stored(&fake, 40);
}

#[tokio::test]
async fn a_younger_writer_shuts_the_older_one_out() {
    let (_, _serving, client) = hosting().await;
    let older = submit(&client).open().await.unwrap();
    send_all(&older, 10).await.unwrap();
    let younger = submit(&client).open().await.unwrap();
    let error = send_all(&older, 10).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::Superseded, "EPOCH_STALE")
    );
    assert!(younger.flush().await.is_ok());
}

#[tokio::test]
async fn what_another_try_would_not_mend_is_told_and_not_tried_again() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().faults = [Fault::Refuse].into();
    let stream = submit(&client).open().await.unwrap();
    stream.send_batch(frames(0..10)).await.unwrap();
    let error = soon(stream.flush()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::LimitExceeded, "LIMIT_EXCEEDED")
    );
    assert_eq!(fake.lock().offsets, [(0, 1)]);
    assert_eq!(
        stream.send(frame(10)).await.unwrap_err().kind(),
        ErrorKind::LimitExceeded
    );
}

#[tokio::test]
async fn retries_end_where_the_server_stays_away() {
    let (_, serving, client) = hosting().await;
    let retry = Retry::default()
        .initial(Duration::from_millis(5))
        .maximum(Duration::from_millis(5))
        .give_up_after(Some(Duration::from_millis(50)));
    let stream = submit(&client)
        .delivery(Delivery::default().retry(retry))
        .open()
        .await
        .unwrap();
    send_all(&stream, 10).await.unwrap();
    drop(serving);
    stream.send_batch(frames(10..20)).await.unwrap();
    let error = soon(stream.flush()).await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
}

#[tokio::test]
async fn a_full_queue_refuses_at_once_or_after_a_while() {
    for policy in [Policy::Raise, Policy::Block] {
        let (fake, _serving, client) = hosting().await;
        fake.lock().faults = [Fault::SayNothing].into();
        let batching = Batching::default()
            .batch_frames(1)
            .queue_frames(3)
            .policy(policy)
            .block_timeout(Some(Duration::from_millis(50)));
        let delivery = delivery()
            .window_frames(1)
            .acknowledge_timeout(Duration::from_secs(600));
        let builder = submit(&client).batching(batching).delivery(delivery);
        let stream = builder.open().await.unwrap();
        let error = send_all(&stream, 6).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BackPressure, "{policy:?}");
        assert!(error.message().contains("window_frames is 1"), "{error}");
    }
}

/// On several threads, where the sender may have gone to sleep before the caller wakes up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_sender_goes_on_when_there_is_room() {
    let (fake, _serving, client) = hosting().await;
    let batching = Batching::default().batch_frames(1).queue_frames(1);
    let stream = submit(&client).batching(batching).open().await.unwrap();
    assert_eq!(send_all(&stream, 2000).await.unwrap(), 2000);
    assert_stored(&fake, 2000);
}

#[tokio::test]
async fn a_callback_that_panics_ends_the_stream() {
    let (_, _serving, client) = hosting().await;
    let delivery = delivery().on_acknowledged(|_| panic!("on purpose"));
    let stream = submit(&client).delivery(delivery).open().await.unwrap();
    stream.send_batch(frames(0..30)).await.unwrap();
    let error = soon(stream.flush()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::Callback, "CALLBACK_FAILED")
    );
}

#[tokio::test]
async fn a_callback_cannot_wait_for_its_stream() {
    let (fake, _serving, client) = hosting().await;
    let own: Arc<OnceLock<SubmissionStream>> = Arc::default();
    let found = Arc::new(Mutex::new(Vec::new()));
    let (stream, refused) = (own.clone(), found.clone());
    let callback = move |_| {
        let stream = stream.get().unwrap();
        let flushing = stream.flush().now_or_never().map(|done| done.map(|_| ()));
        let sealing = stream
            .seal(None)
            .now_or_never()
            .map(|done| done.map(|_| ()));
        let closing = stream.close().now_or_never();
        refused.lock().unwrap().extend([flushing, sealing, closing]);
    };
    let builder = submit(&client).delivery(delivery().on_acknowledged(callback));
    own.set(builder.open().await.unwrap()).unwrap();
    let stream = own.get().unwrap();
    assert_eq!(send_all(stream, 3).await.unwrap(), 3);
    let kind_of = |outcome: &Option<Result<(), Error>>| {
        let outcome = outcome.as_ref().expect("it waits");
        outcome.as_ref().unwrap_err().kind()
    };
    let kinds: Vec<_> = found.lock().unwrap().iter().map(kind_of).collect();
    assert_eq!(kinds, [ErrorKind::Callback; 3]);
    stream.close().await.unwrap();
    assert_stored(&fake, 3);
}

#[tokio::test]
async fn a_seal_whose_answer_is_lost_is_made_again() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().lose_seals = 1;
    let stream = submit(&client).open().await.unwrap();
    send_all(&stream, 3).await.unwrap();
    stream.seal(Some(3)).await.unwrap();
    assert_eq!(fake.lock().sealed_with, [Some(3), Some(3)]);
    let error = client
        .submissions()
        .seal("streets/run", Some(4))
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::Conflict, "FRAME_COUNT_DIFFERS")
    );
}

#[tokio::test]
async fn an_aborted_stream_delivers_no_more() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().faults = [Fault::SayNothing].into();
    let stream = submit(&client).open().await.unwrap();
    stream.send_batch(frames(0..10)).await.unwrap();
    stream.abort();
    assert_eq!(
        soon(stream.flush()).await.unwrap_err().kind(),
        ErrorKind::Closed
    );
    assert!(fake.lock().stored.is_empty());
}

#[tokio::test]
async fn closing_a_stream_or_dropping_it_delivers_what_was_taken() {
    let (fake, _serving, client) = hosting().await;
    let stream = submit(&client).open().await.unwrap();
    stream.send_batch(frames(0..7)).await.unwrap();
    soon(stream.close()).await.unwrap();
    soon(stream.close()).await.unwrap();
    assert_stored(&fake, 7);
    let refused = stream.send(frame(7)).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Closed);
    let dropped = submit(&client).open().await.unwrap();
    dropped.send(frame(7)).await.unwrap();
    drop(dropped);
    soon(async {
        while fake.lock().stored.len() < 8 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn closing_in_vain_says_how_many_frames_are_given_up() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().faults = [Fault::SayNothing, Fault::SayNothing].into();
    let hurried = delivery().close_timeout(Duration::from_millis(20));
    let stream = submit(&client).delivery(hurried).open().await.unwrap();
    stream.send_batch(frames(0..7)).await.unwrap();
    let error = soon(stream.close()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Deadline);
    let text = "7 frames dropped: not durable within 20ms";
    assert_eq!(error.message(), text);
    assert_eq!(stream.undelivered_frames(), 7);
    soon(stream.close()).await.unwrap(); // the error was reported already
    let sealed = soon(stream.seal(Some(7))).await.unwrap_err();
    assert_eq!(sealed.kind(), ErrorKind::Deadline);
    let left = submit(&client).open().await.unwrap();
    left.send_batch(frames(0..7)).await.unwrap();
    left.abort();
    soon(left.close()).await.unwrap();
    assert_eq!(left.undelivered_frames(), 7);
}

#[tokio::test]
async fn times_may_be_longer_than_clocks_count() {
    let (fake, serving, _) = hosting().await;
    let unhurried = Client::builder(&serving.address)
        .timeout(Duration::MAX)
        .connect()
        .unwrap();
    let delivery = Delivery::default()
        .acknowledge_timeout(Duration::MAX)
        .close_timeout(Duration::MAX);
    let batching = Batching::default().batch_interval(Duration::MAX);
    let stream = submit(&unhurried)
        .delivery(delivery)
        .batching(batching)
        .open()
        .await
        .unwrap();
    assert_eq!(send_all(&stream, 3).await.unwrap(), 3);
    soon(stream.close()).await.unwrap();
    assert_stored(&fake, 3);
}

#[tokio::test]
async fn a_submission_that_is_there_is_not_created_again() {
    let (fake, _serving, client) = hosting().await;
    drop(submit(&client).open().await.unwrap());
    drop(submit(&client).open().await.unwrap());
    assert_eq!(fake.lock().creations, ["run"]);
    drop(client.submit("streets").open().await.unwrap());
    assert_eq!(fake.lock().creations, ["run", ""]);
}

#[tokio::test]
async fn a_name_that_another_team_has_is_a_conflict() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().refuse_creation = Some("NAME_TAKEN");
    let error = submit(&client).open().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::Conflict, "NAME_TAKEN")
    );
}

#[tokio::test]
async fn a_benchmark_of_which_the_shape_of_detections_is_not_known_yet_takes_none() {
    let (fake, _serving, client) = hosting().await;
    let error = client.submit("early").open().await.unwrap_err();
    assert_eq!(
        (error.kind(), error.reason()),
        (ErrorKind::Conflict, "BENCHMARK_NOT_OPEN")
    );
    assert!(fake.lock().creations.is_empty());
}

#[tokio::test]
async fn benchmarks_and_names_that_are_none_are_told() {
    let (_, _serving, client) = hosting().await;
    let error = client.submit("nowhere").open().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        client.submit("a/b").open().await.unwrap_err().kind(),
        ErrorKind::Input
    );
    for name in ["run", "a/b/c", "/run", "benchmarks/a/submissions/"] {
        let error = client.submissions().get(name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{name}");
    }
}

#[tokio::test]
async fn objects_of_another_shape_than_the_benchmarks_are_refused() {
    let (_, _serving, client) = hosting().await;
    let stream = submit(&client).open().await.unwrap();
    let point = Frame::new("a", 0).object(Object::point([1.0, 2.0]));
    assert_eq!(
        stream.send(point.clone()).await.unwrap_err().kind(),
        ErrorKind::Input
    );
    assert_eq!(
        stream.send_batch(vec![point]).await.unwrap_err().kind(),
        ErrorKind::Input
    );
}

#[tokio::test]
async fn a_watch_that_breaks_goes_on_from_the_revision_that_it_has() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().watch_script = [
        vec![Some((State::Sealed, 4)), None],
        vec![],
        vec![Some((State::Scoring, 5)), Some((State::Scored, 6))],
    ]
    .into();
    let updates = client.submissions().watch("streets/run").unwrap();
    let updates: Vec<_> = soon(updates.collect::<Vec<_>>()).await;
    let revisions: Vec<_> = updates
        .into_iter()
        .map(|update| update.unwrap().submission.revision)
        .collect();
    assert_eq!(revisions, [4, 5, 6]);
    assert_eq!(fake.lock().watches, [0, 4, 4]);
}

#[tokio::test]
async fn submissions_and_boards_are_read_page_by_page() {
    let (fake, _serving, client) = hosting().await;
    fake.lock().state = State::Open;
    assert_eq!(client.submissions().list("streets").await.unwrap().len(), 2);
    let board = client.leaderboard("streets").await.unwrap();
    let values: Vec<_> = board
        .rows
        .iter()
        .map(|row| (row.rank, row.scores["f1"]))
        .collect();
    assert_eq!(values, [(1, None), (2, Some(0.5))]);
    assert_eq!(board.ranking, ["f1"]);
    let cancelled = client.submissions().cancel("streets/run").await.unwrap();
    assert!(cancelled.state.has_ended());
}

//! Scoring streams against a scripted server.

use std::time::Duration;

use futures_util::StreamExt;

use super::fake_scoring::{scoring, scoring_with_limits, Script};
use super::{frame, frames, soon};
use crate::client::Client;
use crate::error::ErrorKind;
use crate::frames::{Frame, Object, Side};
use crate::reports::Value;
use crate::settings::{Batching, Live, Policy};

#[tokio::test]
async fn every_frame_of_both_sides_is_sent_and_the_final_report_comes() {
    let (_, _serving, client) = scoring(Script::Accept).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    assert_eq!(stream.server_version(), "9.8.7");
    for number in 0..5 {
        stream.send_truth(frame(number)).await.unwrap();
        stream.send(frame(number)).await.unwrap();
    }
    let reports = soon(stream.finish()).await.unwrap();
    assert_eq!(reports[0].value("frames"), Some(Value::Count(10)));
    assert_eq!(reports[0].value("other"), None);
    let error = stream.send(frame(9)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
}

/// Two sides of 600 frames: three messages per side, because a message has at most 256.
#[tokio::test]
async fn everything_at_once_goes_in_batches_of_both_sides_in_turns() {
    let (fake, _serving, client) = scoring(Script::Accept).await;
    let reports = soon(client.score(["fake"]).run(frames(0..600), frames(0..600)))
        .await
        .unwrap();
    assert_eq!(reports[0].value("frames"), Some(Value::Count(1200)));
    assert_eq!(fake.batch_sizes(), [256, 256, 256, 256, 88, 88]);
}

#[tokio::test]
async fn batches_are_no_larger_than_the_server_takes() {
    let limits = [("maximum_batch_frames", 4)];
    let (fake, _serving, client) = scoring_with_limits(Script::Accept, &limits).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    stream.send_batch(Side::Truth, frames(0..10)).await.unwrap();
    soon(stream.finish()).await.unwrap();
    assert_eq!(fake.batch_sizes(), [4, 4, 2]);
    assert_eq!(stream.limits()["maximum_batch_frames"], 4);
}

#[tokio::test]
async fn live_reports_come_in_order_and_end_with_the_stream() {
    let (_, _serving, client) = scoring(Script::AnswerEach).await;
    let batching = Batching::default().batch_frames(1);
    let live = Live::every_frames(1);
    let stream = client
        .score(["fake"])
        .live(live)
        .batching(batching)
        .open()
        .await
        .unwrap();
    let mut reports = stream.live_reports();
    for number in 0..3 {
        stream.send(frame(number)).await.unwrap();
        let live = soon(reports.next()).await.unwrap().unwrap();
        assert_eq!(live.coverage.paired_frames, number + 1);
    }
    soon(stream.finish()).await.unwrap();
    assert!(soon(reports.next()).await.is_none());
    assert_eq!(stream.latest().unwrap().coverage.paired_frames, 3);
}

#[tokio::test]
async fn a_reader_that_is_slow_gets_the_newest_reports() {
    let (_, _serving, client) = scoring(Script::AnswerEach).await;
    let batching = Batching::default().batch_frames(1);
    let live = Live::every_frames(1).keep_reports(2);
    let stream = client
        .score(["fake"])
        .live(live)
        .batching(batching)
        .open()
        .await
        .unwrap();
    stream.send_batch(Side::Truth, frames(0..5)).await.unwrap();
    soon(stream.finish()).await.unwrap();
    let reports: Vec<_> = soon(stream.live_reports().collect()).await;
    let paired: Vec<_> = reports
        .into_iter()
        .map(|report| report.unwrap().coverage.paired_frames)
        .collect();
    assert_eq!(paired, [4, 5]);
}

#[tokio::test]
async fn what_the_server_refuses_is_told_by_finish_and_every_later_call() {
    let (_, _serving, client) = scoring(Script::RefuseFirstBatch).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    stream.send(frame(0)).await.unwrap();
    let error = soon(stream.finish()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.violation_count()),
        (ErrorKind::InvalidArgument, 30)
    );
    assert_eq!(error.violations()[1].to_string(), "truth.labels: found two");
    assert_eq!(
        stream.send(frame(1)).await.unwrap_err().reason(),
        "INVALID_INPUT"
    );
    let last: Vec<_> = soon(stream.live_reports().collect()).await;
    assert_eq!(last.len(), 1);
    assert!(last[0].is_err());
}

#[tokio::test]
async fn a_stream_that_the_server_refuses_is_not_opened() {
    let (_, _serving, client) = scoring(Script::RefuseConfiguration).await;
    let error = soon(client.score(["fake"]).open()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_stream_that_the_server_does_not_accept_in_time_is_not_opened() {
    let (fake, serving, _) = scoring(Script::NeverAccept).await;
    let hasty = Client::builder(&serving.address).timeout(Duration::from_millis(50));
    let error = soon(hasty.connect().unwrap().score(["fake"]).open())
        .await
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Deadline, "DEADLINE_EXCEEDED")
    );
    soon(fake.finished.notified()).await;
}

#[tokio::test]
async fn a_stream_ends_when_its_time_is_over() {
    let (_, _serving, client) = scoring(Script::Slow).await;
    let timeout = Duration::from_millis(200);
    let stream = client
        .score(["fake"])
        .timeout(timeout)
        .open()
        .await
        .unwrap();
    let error = soon(stream.finish()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.code()),
        (ErrorKind::Deadline, "DEADLINE_EXCEEDED")
    );
}

#[tokio::test]
async fn an_end_without_a_final_report_is_an_error() {
    let (_, _serving, client) = scoring(Script::EndAtOnce).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    let error = soon(stream.finish()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
}

#[tokio::test]
async fn finish_that_is_given_up_can_be_called_again() {
    let (fake, _serving, client) = scoring(Script::Slow).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    stream.send(frame(0)).await.unwrap();
    let short = Duration::from_millis(20);
    assert!(tokio::time::timeout(short, stream.finish()).await.is_err());
    fake.go_on.notify_one();
    assert_eq!(
        soon(stream.finish()).await.unwrap()[0].value("frames"),
        Some(Value::Count(1))
    );
}

#[tokio::test]
async fn a_cancelled_stream_says_so_and_the_server_lets_go_of_it() {
    let (fake, _serving, client) = scoring(Script::Accept).await;
    let stream = client.score(["fake"]).open().await.unwrap();
    stream.cancel();
    assert_eq!(
        stream.send(frame(0)).await.unwrap_err().kind(),
        ErrorKind::CallCancelled
    );
    assert_eq!(
        soon(stream.finish()).await.unwrap_err().kind(),
        ErrorKind::CallCancelled
    );
    soon(fake.finished.notified()).await;
}

#[tokio::test]
async fn a_stream_that_is_dropped_is_cancelled() {
    let (fake, _serving, client) = scoring(Script::Accept).await;
    drop(client.score(["fake"]).open().await.unwrap());
    soon(fake.finished.notified()).await;
}

/// Frames of 1 MB each, of which the connection takes a few and the queue one.
#[tokio::test]
async fn a_full_queue_refuses_at_once_or_after_a_while() {
    let large = || Frame::new("a", 0).objects(vec![Object::rectangle([1.0; 4]); 18_000]);
    for policy in [Policy::Raise, Policy::Block] {
        let (_, _serving, client) = scoring(Script::Slow).await;
        let batching = Batching::default()
            .batch_frames(1)
            .queue_frames(1)
            .policy(policy)
            .block_timeout(Some(Duration::from_millis(100)));
        let stream = client
            .score(["fake"])
            .batching(batching)
            .open()
            .await
            .unwrap();
        let error = loop {
            if let Err(error) = soon(stream.send(large())).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::BackPressure, "{policy:?}");
    }
}

/// On several threads, where the sender may have gone to sleep before the caller wakes up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_sender_goes_on_when_there_is_room() {
    let (fake, _serving, client) = scoring(Script::Accept).await;
    let batching = Batching::default().batch_frames(1).queue_frames(1);
    let stream = client
        .score(["fake"])
        .batching(batching)
        .open()
        .await
        .unwrap();
    for number in 0..2000 {
        soon(stream.send(frame(number))).await.unwrap();
    }
    soon(stream.finish()).await.unwrap();
    assert_eq!(fake.batch_sizes().len(), 2000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_stream_may_be_shared_by_tasks_of_many_threads() {
    let (_, _serving, client) = scoring(Script::Accept).await;
    let batching = Batching::default().batch_frames(3).queue_frames(5);
    let stream = client
        .score(["fake"])
        .batching(batching)
        .open()
        .await
        .unwrap();
    let stream = std::sync::Arc::new(stream);
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let stream = stream.clone();
            tokio::spawn(async move {
                for number in 0..100 {
                    stream.send(frame(sender * 100 + number)).await.unwrap();
                }
            })
        })
        .collect();
    for sender in senders {
        soon(sender).await.unwrap();
    }
    assert_eq!(
        soon(stream.finish()).await.unwrap()[0].value("frames"),
        Some(Value::Count(400))
    );
}

#[tokio::test]
async fn settings_are_checked_before_anything_is_sent() {
    let (_, _serving, client) = scoring(Script::Accept).await;
    let none: [&str; 0] = [];
    let wrong = [
        client.score(none),
        client
            .score(["fake"])
            .batching(Batching::default().batch_frames(0)),
        client.score(["fake"]).live(Live::every_frames(0)),
        client.score(["fake"]).timeout(Duration::ZERO),
    ];
    for builder in wrong {
        assert_eq!(builder.open().await.unwrap_err().kind(), ErrorKind::Input);
    }
}

#[tokio::test]
async fn evaluators_are_listed_page_by_page_with_the_token() {
    let (fake, _serving, client) = scoring(Script::Accept).await;
    let names: Vec<_> = client
        .evaluators()
        .await
        .unwrap()
        .into_iter()
        .map(|found| found.name)
        .collect();
    assert_eq!(names, ["one", "two"]);
    let expected = Some("Bearer secret".to_owned());
    assert_eq!(
        *fake.authorizations.lock().unwrap(),
        [expected.clone(), expected]
    );
    assert_eq!(client.evaluator("one").await.unwrap().name, "one");
    let error = client.evaluator("three").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(
        client.health("").await.unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

//! A scoring server that plays a script: the test chooses its answers, and it records the requests.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures_util::{Stream, StreamExt};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, Notify};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::transport::server::Router;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_types::{ErrorDetails, FieldViolation, StatusExt};

use crate::client::Client;
use crate::wire::vidscore::v1 as wire;
use wire::evaluator_service_server::{EvaluatorService, EvaluatorServiceServer};
use wire::score_response::Message as Said;
use wire::scoring_service_server::{ScoringService, ScoringServiceServer};

type Answers<Message> = Pin<Box<dyn Stream<Item = Result<Message, Status>> + Send>>;

/// The answer of the server to a scoring stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Script {
    /// Accept everything; the final report counts the frames of both sides.
    Accept,
    /// Answer each batch with a live report that counts the batches.
    AnswerEach,
    /// Accept, but no frame before `Fake::go_on`.
    Slow,
    /// Accept, and refuse the first batch with thirty violations, two of them listed.
    RefuseFirstBatch,
    /// Refuse the stream.
    RefuseConfiguration,
    /// Accept, and end without an error but without a final report.
    EndAtOnce,
    /// Take everything and say nothing.
    NeverAccept,
}

/// The server as a test sees it.
pub(super) struct Fake {
    script: Script,
    limits: HashMap<String, i64>,
    pub(super) requests: Mutex<Vec<wire::ScoreRequest>>,
    pub(super) authorizations: Mutex<Vec<Option<String>>>,
    /// Notified when a scoring stream has ended in any way.
    pub(super) finished: Notify,
    pub(super) go_on: Notify,
}

impl Fake {
    /// Number of frames of each message, in order of arrival.
    pub(super) fn batch_sizes(&self) -> Vec<usize> {
        self.requests
            .lock()
            .unwrap()
            .iter()
            .map(frame_count)
            .filter(|count| *count > 0)
            .collect()
    }
}

/// A server in its own runtime, which cuts all connections when it is dropped.
pub(super) struct Serving {
    pub(super) address: String,
    runtime: Option<Runtime>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Serve at a free port of this machine.
pub(super) fn serve(router: Router) -> Serving {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    runtime.spawn(async move {
        let incoming = TcpListenerStream::new(TcpListener::from_std(listener).unwrap());
        router.serve_with_incoming(incoming).await.unwrap();
    });
    Serving {
        address,
        runtime: Some(runtime),
    }
}

/// A scripted server, and a client of it.
pub(super) async fn scoring(script: Script) -> (Arc<Fake>, Serving, Client) {
    scoring_with_limits(script, &[]).await
}

pub(super) async fn scoring_with_limits(
    script: Script,
    limits: &[(&str, i64)],
) -> (Arc<Fake>, Serving, Client) {
    let fake = Arc::new(Fake {
        script,
        limits: limits
            .iter()
            .map(|(name, value)| ((*name).to_owned(), *value))
            .collect(),
        requests: Mutex::default(),
        authorizations: Mutex::default(),
        finished: Notify::new(),
        go_on: Notify::new(),
    });
    let router = tonic::transport::Server::builder()
        .add_service(ScoringServiceServer::new(Service(fake.clone())))
        .add_service(EvaluatorServiceServer::new(Service(fake.clone())));
    let serving = serve(router);
    let client = Client::builder(&serving.address)
        .token("secret")
        .connect()
        .unwrap();
    (fake, serving, client)
}

struct Service(Arc<Fake>);

/// Notifies that a stream has ended, when it is dropped.
struct TellFinished(Arc<Fake>);

impl Drop for TellFinished {
    fn drop(&mut self) {
        self.0.finished.notify_one();
    }
}

#[tonic::async_trait]
impl ScoringService for Service {
    type ScoreStream = Answers<wire::ScoreResponse>;

    async fn score(
        &self,
        request: Request<Streaming<wire::ScoreRequest>>,
    ) -> Result<Response<Self::ScoreStream>, Status> {
        let (fake, (sender, receiver)) = (self.0.clone(), mpsc::channel(4));
        tokio::spawn(async move {
            let guard = TellFinished(fake);
            if let Err(status) = play(&guard.0, request.into_inner(), &sender).await {
                let _ = sender.send(Err(status)).await;
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver).boxed()))
    }

    async fn score_batch(
        &self,
        _: Request<wire::ScoreBatchRequest>,
    ) -> Result<Response<wire::ScoreBatchResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// Serves two evaluators, one per page.
#[tonic::async_trait]
impl EvaluatorService for Service {
    async fn list_evaluators(
        &self,
        request: Request<wire::ListEvaluatorsRequest>,
    ) -> Result<Response<wire::ListEvaluatorsResponse>, Status> {
        let authorization = request.metadata().get("authorization");
        let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
        self.0.authorizations.lock().unwrap().push(authorization);
        let (name, next) = match request.get_ref().page_token.as_str() {
            "" => ("one", "second"),
            _ => ("two", ""),
        };
        Ok(Response::new(wire::ListEvaluatorsResponse {
            evaluators: vec![evaluator(name)],
            next_page_token: next.to_owned(),
        }))
    }

    async fn get_evaluator(
        &self,
        request: Request<wire::GetEvaluatorRequest>,
    ) -> Result<Response<wire::GetEvaluatorResponse>, Status> {
        match request.get_ref().name.as_str() {
            "evaluators/one" => Ok(Response::new(wire::GetEvaluatorResponse {
                evaluator: Some(evaluator("one")),
            })),
            name => Err(Status::not_found(format!(
                "no evaluator is called {name:?}"
            ))),
        }
    }

    async fn list_presets(
        &self,
        _: Request<wire::ListPresetsRequest>,
    ) -> Result<Response<wire::ListPresetsResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

type Sender = mpsc::Sender<Result<wire::ScoreResponse, Status>>;

async fn play(
    fake: &Fake,
    mut requests: Streaming<wire::ScoreRequest>,
    sender: &Sender,
) -> Result<(), Status> {
    requests.message().await?;
    match fake.script {
        Script::RefuseConfiguration => return Err(Status::not_found("no such evaluator")),
        Script::NeverAccept => {
            while requests.message().await?.is_some() {}
            return Ok(());
        }
        _ => {}
    }
    let started = wire::ScoreStarted {
        server_version: "9.8.7".to_owned(),
        limits: fake.limits.clone(),
    };
    say(sender, Said::Started(started)).await;
    if fake.script == Script::EndAtOnce {
        return Ok(());
    }
    if fake.script == Script::Slow {
        fake.go_on.notified().await;
    }
    let mut frames = 0;
    while let Some(request) = requests.message().await? {
        frames += frame_count(&request) as i64;
        fake.requests.lock().unwrap().push(request);
        let batches = fake.requests.lock().unwrap().len() as i64;
        match fake.script {
            Script::RefuseFirstBatch => return Err(many_faults()),
            Script::AnswerEach => say(sender, live(batches)).await,
            _ => {}
        }
    }
    say(
        sender,
        Said::Final(wire::FinalReport {
            reports: vec![report(frames)],
        }),
    )
    .await;
    Ok(())
}

async fn say(sender: &Sender, message: Said) {
    let _ = sender
        .send(Ok(wire::ScoreResponse {
            message: Some(message),
        }))
        .await;
}

fn many_faults() -> Status {
    let metadata = HashMap::from([("violations".to_owned(), "30".to_owned())]);
    let mut details = ErrorDetails::with_error_info("INVALID_INPUT", "vidscore", metadata);
    details.set_bad_request(vec![
        FieldViolation::new("truth.coordinates[0]", "found nan"),
        FieldViolation::new("truth.labels", "found two"),
    ]);
    Status::with_error_details(Code::InvalidArgument, "many faults", details)
}

fn live(paired_frames: i64) -> Said {
    Said::Live(wire::LiveReport {
        reports: vec![report(paired_frames)],
        coverage: Some(wire::Coverage {
            paired_frames,
            frames_waiting_for_detections: 1,
            frames_waiting_for_truth: 2,
        }),
    })
}

/// A report whose only score is a number of frames.
fn report(frames: i64) -> wire::Report {
    let value = wire::Value {
        kind: Some(wire::value::Kind::Count(frames)),
    };
    wire::Report {
        evaluator: "fake".to_owned(),
        version: "1".to_owned(),
        scores: vec![wire::Score {
            measure: "frames".to_owned(),
            value: Some(value),
            ..wire::Score::default()
        }],
        ..wire::Report::default()
    }
}

fn evaluator(name: &str) -> wire::Evaluator {
    wire::Evaluator {
        name: format!("evaluators/{name}"),
        ..wire::Evaluator::default()
    }
}

fn frame_count(request: &wire::ScoreRequest) -> usize {
    match &request.message {
        Some(
            wire::score_request::Message::Truth(batch)
            | wire::score_request::Message::Detections(batch),
        ) => batch.frame_numbers.len(),
        _ => 0,
    }
}

//! A server that accepts submissions by the offset protocol, kept in memory, and fails on demand.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use futures_util::{stream, Stream, StreamExt};
use prost::Message;
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_types::{ErrorDetails, StatusExt};

use super::fake_benchmarks::Benchmarks;
use super::fake_scoring::{serve, Serving};
use crate::checksum::crc32;
use crate::client::Client;
use crate::wire::vidscore::v1 as wire;
use wire::benchmark_service_server::BenchmarkServiceServer;
use wire::submission_service_server::{SubmissionService, SubmissionServiceServer};
use wire::SubmissionState as State;

pub(super) const NAME: &str = "benchmarks/streets/submissions/run";

type Answers<Message> = Pin<Box<dyn Stream<Item = Result<Message, Status>> + Send>>;

/// Faults of an append.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// Nothing.
    None,
    /// The call breaks before the batch is stored.
    BreakBefore,
    /// The call breaks after it is stored, before it is acknowledged.
    BreakAfter,
    /// Half of it is stored, and then the call breaks.
    TakeHalf,
    /// The batch is lost, and the server answers that the offset is ahead.
    FallBehind,
    /// Nothing is answered.
    SayNothing,
    /// It is refused finally.
    Refuse,
}

/// The state of the server, and the requests that it got.
#[derive(Default)]
pub(super) struct Store {
    pub(super) faults: VecDeque<Fault>,
    /// Numbers of the stored frames, in order.
    pub(super) stored: Vec<i64>,
    batches: HashMap<i64, Vec<u8>>,
    /// Offset and epoch of every received batch, stored or not.
    pub(super) offsets: Vec<(i64, i64)>,
    pub(super) epoch: i64,
    /// Limits that it states.
    pub(super) limits: HashMap<String, i64>,
    pub(super) state: State,
    pub(super) creations: Vec<String>,
    pub(super) refuse_creation: Option<&'static str>,
    pub(super) sealed_with: Vec<Option<i64>>,
    pub(super) lose_seals: usize,
    pub(super) watches: Vec<i64>,
    /// The updates of each watcher; `None` cuts the connection.
    pub(super) watch_script: VecDeque<Vec<Option<(State, i64)>>>,
}

impl Store {
    fn submission(&self) -> wire::Submission {
        wire::Submission {
            name: NAME.to_owned(),
            state: self.state as i32,
            frame_count: self.stored.len() as i64,
            streams: if self.epoch > 0 {
                vec![self.stream()]
            } else {
                vec![]
            },
            revision: 7,
            ..wire::Submission::default()
        }
    }

    fn stream(&self) -> wire::StreamInfo {
        wire::StreamInfo {
            stream: "default".to_owned(),
            epoch: self.epoch,
            next_offset: self.stored.len() as i64,
            source_position: String::new(),
        }
    }

    /// Follow the offset protocol.
    fn store(&mut self, append: &wire::AppendRequest) -> Result<i64, Status> {
        let batch = append.detections.clone().unwrap_or_default();
        if append.detections_crc32 != Some(crc32(&batch.encode_to_vec())) {
            return Err(refusal(Code::InvalidArgument, "CONTENT_DAMAGED"));
        }
        let (known, count) = (self.stored.len() as i64, batch.frame_numbers.len() as i64);
        if append.epoch != self.epoch {
            return Err(refusal(Code::Aborted, "EPOCH_STALE"));
        }
        if append.offset > known {
            return Err(refusal(Code::OutOfRange, "OFFSET_GAP"));
        }
        if append.offset == known {
            self.batches.insert(append.offset, batch.encode_to_vec());
            self.stored.extend(&batch.frame_numbers);
            return Ok(self.stored.len() as i64);
        }
        if append.offset + count > known {
            return Err(refusal(Code::OutOfRange, "OFFSET_STRADDLES"));
        }
        match self.batches.get(&append.offset) == Some(&batch.encode_to_vec()) {
            true => Ok(known),
            false => Err(refusal(Code::AlreadyExists, "CONTENT_DIFFERS")),
        }
    }
}

/// The server as a test sees it.
#[derive(Clone, Default)]
pub(super) struct Fake(Arc<Mutex<Store>>);

impl Fake {
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.0.lock().unwrap()
    }

    async fn append(&self, append: wire::AppendRequest) -> Result<i64, Status> {
        let fault = {
            let mut store = self.lock();
            store.offsets.push((append.offset, append.epoch));
            store.faults.pop_front().unwrap_or(Fault::None)
        };
        if fault == Fault::SayNothing {
            std::future::pending::<()>().await;
        }
        self.append_with(&append, fault)
    }

    fn append_with(&self, append: &wire::AppendRequest, fault: Fault) -> Result<i64, Status> {
        let mut store = self.lock();
        match fault {
            Fault::BreakBefore => return Err(broken()),
            Fault::Refuse => return Err(refusal(Code::ResourceExhausted, "LIMIT_EXCEEDED")),
            Fault::FallBehind => return Err(refusal(Code::OutOfRange, "OFFSET_GAP")),
            Fault::TakeHalf => {
                let numbers = append.detections.clone().unwrap_or_default().frame_numbers;
                store.stored.extend(&numbers[..numbers.len() / 2]);
                return Err(broken());
            }
            _ => {}
        }
        let next_offset = store.store(append)?;
        if fault == Fault::BreakAfter {
            Err(broken())
        } else {
            Ok(next_offset)
        }
    }
}

/// A server, and a client of it.
pub(super) async fn hosting() -> (Fake, Serving, Client) {
    let fake = Fake::default();
    let router = tonic::transport::Server::builder()
        .add_service(SubmissionServiceServer::new(fake.clone()))
        .add_service(BenchmarkServiceServer::new(Benchmarks));
    let serving = serve(router);
    let client = Client::connect(&serving.address).unwrap();
    (fake, serving, client)
}

fn broken() -> Status {
    Status::unavailable("Socket closed")
}

pub(super) fn refusal(code: Code, reason: &str) -> Status {
    let details = ErrorDetails::with_error_info(reason, "vidscore", HashMap::new());
    Status::with_error_details(code, reason.to_lowercase(), details)
}

fn answer<Message>(message: Message) -> Result<Response<Message>, Status> {
    Ok(Response::new(message))
}

#[tonic::async_trait]
impl SubmissionService for Fake {
    type AppendFramesStream = Answers<wire::AppendResponse>;
    type WatchSubmissionStream = Answers<wire::WatchSubmissionResponse>;
    type ReadOutcomesStream = Answers<wire::ReadOutcomesResponse>;
    type ReadDetectionsStream = Answers<wire::ReadDetectionsResponse>;
    type AnswerFramesStream = Answers<wire::AnswerFramesResponse>;

    async fn create_submission(
        &self,
        request: Request<wire::CreateSubmissionRequest>,
    ) -> Result<Response<wire::CreateSubmissionResponse>, Status> {
        let mut store = self.lock();
        store.creations.push(request.into_inner().submission_id);
        if let Some(reason) = store.refuse_creation {
            return Err(refusal(Code::AlreadyExists, reason));
        }
        store.state = State::Open;
        answer(wire::CreateSubmissionResponse {
            submission: Some(store.submission()),
        })
    }

    async fn get_submission(
        &self,
        request: Request<wire::GetSubmissionRequest>,
    ) -> Result<Response<wire::GetSubmissionResponse>, Status> {
        let store = self.lock();
        if request.get_ref().name != NAME || store.state == State::Unspecified {
            return Err(refusal(Code::NotFound, "NOT_FOUND"));
        }
        answer(wire::GetSubmissionResponse {
            submission: Some(store.submission()),
        })
    }

    async fn list_submissions(
        &self,
        request: Request<wire::ListSubmissionsRequest>,
    ) -> Result<Response<wire::ListSubmissionsResponse>, Status> {
        let last = !request.get_ref().page_token.is_empty();
        answer(wire::ListSubmissionsResponse {
            submissions: vec![self.lock().submission()],
            next_page_token: if last {
                String::new()
            } else {
                "second".to_owned()
            },
        })
    }

    async fn open_stream(
        &self,
        _: Request<wire::OpenStreamRequest>,
    ) -> Result<Response<wire::OpenStreamResponse>, Status> {
        let mut store = self.lock();
        store.epoch += 1;
        answer(wire::OpenStreamResponse {
            stream: Some(store.stream()),
            limits: store.limits.clone(),
        })
    }

    async fn append_frames(
        &self,
        request: Request<Streaming<wire::AppendRequest>>,
    ) -> Result<Response<Self::AppendFramesStream>, Status> {
        let step = |(fake, mut requests): (Fake, Streaming<wire::AppendRequest>)| async {
            let request = requests.message().await.ok()??;
            let outcome = fake.append(request).await;
            let said = outcome.map(|next_offset| wire::AppendResponse { next_offset });
            Some((said, (fake, requests)))
        };
        let answers = stream::unfold((self.clone(), request.into_inner()), step);
        answer(answers.boxed())
    }

    async fn answer_frames(
        &self,
        _: Request<Streaming<wire::AnswerFramesRequest>>,
    ) -> Result<Response<Self::AnswerFramesStream>, Status> {
        Err(Status::unimplemented("answer_frames"))
    }

    async fn append_batch(
        &self,
        request: Request<wire::AppendRequest>,
    ) -> Result<Response<wire::AppendResponse>, Status> {
        let next_offset = self.append(request.into_inner()).await?;
        answer(wire::AppendResponse { next_offset })
    }

    async fn seal_submission(
        &self,
        request: Request<wire::SealSubmissionRequest>,
    ) -> Result<Response<wire::SealSubmissionResponse>, Status> {
        let mut store = self.lock();
        let expected = request.get_ref().expected_frame_count;
        store.sealed_with.push(expected);
        if expected.is_some_and(|expected| expected != store.stored.len() as i64) {
            return Err(refusal(Code::FailedPrecondition, "FRAME_COUNT_DIFFERS"));
        }
        store.state = State::Sealed;
        if store.lose_seals > 0 {
            store.lose_seals -= 1;
            return Err(broken());
        }
        answer(wire::SealSubmissionResponse {
            submission: Some(store.submission()),
        })
    }

    async fn check_detections(
        &self,
        _: Request<wire::CheckDetectionsRequest>,
    ) -> Result<Response<wire::CheckDetectionsResponse>, Status> {
        Err(Status::unimplemented("check_detections"))
    }

    async fn cancel_submission(
        &self,
        _: Request<wire::CancelSubmissionRequest>,
    ) -> Result<Response<wire::CancelSubmissionResponse>, Status> {
        let mut store = self.lock();
        store.state = State::Cancelled;
        answer(wire::CancelSubmissionResponse {
            submission: Some(store.submission()),
        })
    }

    async fn retry_submission(
        &self,
        _: Request<wire::RetrySubmissionRequest>,
    ) -> Result<Response<wire::RetrySubmissionResponse>, Status> {
        Err(Status::unimplemented("retry_submission"))
    }

    async fn disqualify_submission(
        &self,
        _: Request<wire::DisqualifySubmissionRequest>,
    ) -> Result<Response<wire::DisqualifySubmissionResponse>, Status> {
        Err(Status::unimplemented("disqualify_submission"))
    }

    async fn reinstate_submission(
        &self,
        _: Request<wire::ReinstateSubmissionRequest>,
    ) -> Result<Response<wire::ReinstateSubmissionResponse>, Status> {
        Err(Status::unimplemented("reinstate_submission"))
    }

    async fn choose_submission(
        &self,
        _: Request<wire::ChooseSubmissionRequest>,
    ) -> Result<Response<wire::ChooseSubmissionResponse>, Status> {
        Err(Status::unimplemented("choose_submission"))
    }

    async fn watch_submission(
        &self,
        request: Request<wire::WatchSubmissionRequest>,
    ) -> Result<Response<Self::WatchSubmissionStream>, Status> {
        let mut store = self.lock();
        store.watches.push(request.get_ref().from_revision);
        let script = store.watch_script.pop_front().unwrap_or_default();
        let tell = |update: Option<(State, i64)>| {
            let (state, revision) = update.ok_or_else(broken)?;
            let submission = wire::Submission {
                state: state as i32,
                revision,
                ..wire::Submission::default()
            };
            let scores = vec![];
            Ok(wire::WatchSubmissionResponse {
                submission: Some(submission),
                scores,
                ..wire::WatchSubmissionResponse::default()
            })
        };
        answer(stream::iter(script.into_iter().map(tell)).boxed())
    }

    async fn list_scores(
        &self,
        _: Request<wire::ListScoresRequest>,
    ) -> Result<Response<wire::ListScoresResponse>, Status> {
        let name = format!("{NAME}/scores/1");
        let score = wire::SubmissionScore {
            name,
            ..wire::SubmissionScore::default()
        };
        answer(wire::ListScoresResponse {
            scores: vec![score],
            next_page_token: String::new(),
        })
    }

    async fn read_outcomes(
        &self,
        _: Request<wire::ReadOutcomesRequest>,
    ) -> Result<Response<Self::ReadOutcomesStream>, Status> {
        Err(refusal(Code::FailedPrecondition, "NOT_RELEASED"))
    }

    async fn read_detections(
        &self,
        _: Request<wire::ReadDetectionsRequest>,
    ) -> Result<Response<Self::ReadDetectionsStream>, Status> {
        Err(refusal(Code::FailedPrecondition, "SUBMISSION_ENDED"))
    }
}

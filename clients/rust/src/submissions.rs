//! The submissions of a client.

use std::fmt;
use std::time::Instant;

use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::time::{sleep, timeout_at};
use tonic::{Code, Streaming};
use uuid::Uuid;

use crate::clock::later;
use crate::connection::{call_error, Connection};
use crate::error::{Error, ErrorKind, Result};
use crate::hosting::{Submission, SubmissionScore, SubmissionState, SubmissionUpdate};
use crate::names::{benchmark_name, own_name, submission_name};
use crate::retrying::{ended_early, Retrying};
use crate::settings::Retry;
use crate::watching::{Watched, CALL_TIME};
use crate::wire::vidscore::v1 as wire;

const NAME_TAKEN: &str = "NAME_TAKEN";

/// Submissions; [`Client::submissions`](crate::Client::submissions).
///
/// A submission is named `{benchmark}/{submission}` or by its full name.
#[derive(Clone)]
pub struct Submissions {
    connection: Connection,
    retry: Retry,
}

impl fmt::Debug for Submissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Submissions")
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl Submissions {
    pub(crate) fn new(connection: Connection) -> Self {
        Self {
            connection,
            retry: Retry::default(),
        }
    }

    /// What happens after a break of the connection while sealing, watching and waiting.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Open a submission of the caller's team; the server names it if `submission` is empty.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if the name is taken or the benchmark accepts no submissions now,
    /// [`ErrorKind::QuotaExceeded`] if the team may have no more, or the error of the call.
    pub async fn create(
        &self,
        benchmark: &str,
        submission: &str,
        title: &str,
    ) -> Result<Submission> {
        let request = wire::CreateSubmissionRequest {
            benchmark: benchmark_name(benchmark)?,
            submission_id: submission.to_owned(),
            title: title.to_owned(),
            request_id: Uuid::new_v4().to_string(),
        };
        let mut service = self.connection.submission_service();
        let call = service.create_submission(self.connection.request(request));
        Ok(Submission::decode(
            self.connection.answer(call).await?.submission,
        ))
    }

    /// One submission.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] if there is none of that name, or the caller may not see it.
    pub async fn get(&self, submission: &str) -> Result<Submission> {
        let request = wire::GetSubmissionRequest {
            name: submission_name(submission)?,
        };
        let mut service = self.connection.submission_service();
        let call = service.get_submission(self.connection.request(request));
        Ok(Submission::decode(
            self.connection.answer(call).await?.submission,
        ))
    }

    /// The submissions that the caller may see, newest first.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn list(&self, benchmark: &str) -> Result<Vec<Submission>> {
        let mut found = Vec::new();
        let mut request = wire::ListSubmissionsRequest {
            benchmark: benchmark_name(benchmark)?,
            ..wire::ListSubmissionsRequest::default()
        };
        loop {
            let mut service = self.connection.submission_service();
            let call = service.list_submissions(self.connection.request(request.clone()));
            let page = self.connection.answer(call).await?;
            let decode = |submission| Submission::decode(Some(submission));
            found.extend(page.submissions.into_iter().map(decode));
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// End the appends of a submission, which is then scored. Sealing again changes nothing.
    /// `expected_frame_count` is the number of frames that must be durable in all streams together,
    /// `None` for any number.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Conflict`] if another number of frames is durable, with reason
    /// `FRAME_COUNT_DIFFERS`; nothing is sealed then. Otherwise the error of the call.
    pub async fn seal(
        &self,
        submission: &str,
        expected_frame_count: Option<u64>,
    ) -> Result<Submission> {
        let request = wire::SealSubmissionRequest {
            name: submission_name(submission)?,
            expected_frame_count: expected_frame_count.map(|count| count as i64),
        };
        self.retry.check()?;
        let mut tries = Retrying::new(self.retry.clone());
        loop {
            let mut service = self.connection.submission_service();
            let call = service.seal_submission(self.connection.request(request.clone()));
            match self.connection.answer(call).await {
                Ok(answer) => return Ok(Submission::decode(answer.submission)),
                Err(error) => sleep(tries.delay(error, Instant::now())?).await,
            }
        }
    }

    /// Cancel a submission.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn cancel(&self, submission: &str) -> Result<Submission> {
        let request = wire::CancelSubmissionRequest {
            name: submission_name(submission)?,
        };
        let mut service = self.connection.submission_service();
        let call = service.cancel_submission(self.connection.request(request));
        Ok(Submission::decode(
            self.connection.answer(call).await?.submission,
        ))
    }

    /// The submission now and after each change, until it has ended. It reconnects automatically
    /// after a break; an error is the last item.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Input`] if the name is invalid.
    pub fn watch(&self, submission: &str) -> Result<BoxStream<'static, Result<SubmissionUpdate>>> {
        self.retry.check()?;
        let watched = Watched::new(submission_name(submission)?, self.retry.clone());
        let watcher = Watcher {
            connection: self.connection.clone(),
            watched,
            call: None,
        };
        let next = |watcher: Option<Watcher>| async move {
            let mut watcher = watcher?;
            let update = watcher.next().await?;
            let goes_on = update.is_ok().then_some(watcher);
            Some((update, goes_on))
        };
        Ok(stream::unfold(Some(watcher), next).boxed())
    }

    /// Wait until a submission has ended: it is scored, has failed, or was cancelled.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be watched.
    pub async fn wait(&self, submission: &str) -> Result<Submission> {
        let mut updates = self.watch(submission)?;
        let mut last = None;
        while let Some(update) = updates.next().await {
            last = Some(update?.submission);
        }
        match last {
            Some(submission) => Ok(submission),
            None => self.get(submission).await,
        }
    }

    /// The scores of a submission that the caller may see, newest first.
    ///
    /// # Errors
    ///
    /// The error of the call.
    pub async fn scores(&self, submission: &str) -> Result<Vec<SubmissionScore>> {
        let mut found = Vec::new();
        let mut request = wire::ListScoresRequest {
            submission: submission_name(submission)?,
            ..wire::ListScoresRequest::default()
        };
        loop {
            let mut service = self.connection.submission_service();
            let call = service.list_scores(self.connection.request(request.clone()));
            let page = self.connection.answer(call).await?;
            found.extend(page.scores.into_iter().map(SubmissionScore::decode));
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                return Ok(found);
            }
        }
    }

    /// A submission by the last part of its name, new if there is none or no name is given.
    pub(crate) async fn find_or_create(
        &self,
        benchmark: &str,
        submission: Option<&str>,
        title: &str,
    ) -> Result<Submission> {
        let Some(submission) = submission else {
            return self.create(benchmark, "", title).await;
        };
        let name = format!("{benchmark}/submissions/{}", own_name(submission)?);
        match self.get(&name).await {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // Nobody has seen the title of a draft, so an earlier one must not stay.
            Ok(found)
                if found.state == SubmissionState::Open
                    && !title.is_empty()
                    && title != found.title => {}
            outcome => return outcome,
        }
        match self.create(benchmark, submission, title).await {
            // Another process of the same submission may just have created it.
            Err(taken) if taken.reason() == NAME_TAKEN => match self.get(&name).await {
                Err(error) if error.kind() == ErrorKind::NotFound => Err(taken),
                outcome => outcome,
            },
            outcome => outcome,
        }
    }
}

/// A call of one watch, and the time at which it is replaced.
type Call = (Streaming<wire::WatchSubmissionResponse>, Instant);

/// Makes the calls of one watch.
struct Watcher {
    connection: Connection,
    watched: Watched,
    call: Option<Call>,
}

impl Watcher {
    /// The next update; `None` if the submission has ended.
    async fn next(&mut self) -> Option<Result<SubmissionUpdate>> {
        while !self.watched.ended() {
            let failure = match self.read().await {
                Ok(update) => return Some(Ok(self.watched.take(update))),
                Err(failure) => failure,
            };
            self.call = None;
            match self.watched.delay(failure, Instant::now()) {
                Ok(delay) => sleep(delay).await,
                Err(error) => return Some(Err(error)),
            }
        }
        None
    }

    async fn read(&mut self) -> Result<SubmissionUpdate> {
        let (updates, limit) = match &mut self.call {
            Some(call) => call,
            none => none.insert(open_watch(&self.connection, &self.watched).await?),
        };
        let expired = |_| {
            Error::with_code(
                Code::DeadlineExceeded,
                "the watch call has reached its time limit",
            )
        };
        let update = timeout_at((*limit).into(), updates.message())
            .await
            .map_err(expired)?;
        update
            .map_err(|status| call_error(&status))?
            .map(SubmissionUpdate::decode)
            .ok_or_else(ended_early)
    }
}

async fn open_watch(connection: &Connection, watched: &Watched) -> Result<Call> {
    let limit = later(Instant::now(), CALL_TIME);
    let mut service = connection.submission_service();
    let request = connection.stream_request(watched.request(), Some(CALL_TIME));
    let call = service.watch_submission(request).await;
    Ok((
        call.map_err(|status| call_error(&status))?.into_inner(),
        limit,
    ))
}

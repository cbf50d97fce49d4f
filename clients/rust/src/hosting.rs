//! Hosted benchmarks as a client sees them.

use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

use prost_types::Timestamp;

use crate::frames::Geometry;
use crate::reports::Report;
use crate::wire::vidscore::v1 as wire;

/// A hosted benchmark: a specification, truth and a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Benchmark {
    /// Last part of its name, such as `streets`.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// Names of its evaluators.
    pub evaluators: Vec<String>,
    /// Shape of the truth's objects; `None` for one that this crate does not know.
    pub truth_geometry: Option<Geometry>,
    /// Shape of detections, likewise.
    pub detection_geometry: Option<Geometry>,
    /// When submissions may first be created; `None` for at once.
    pub open_time: Option<SystemTime>,
    /// When submissions are sealed or cancelled; `None` for never.
    pub close_time: Option<SystemTime>,
    /// When it was created.
    pub create_time: Option<SystemTime>,
    /// When it was last changed.
    pub update_time: Option<SystemTime>,
}

impl Benchmark {
    pub(crate) fn decode(message: wire::Benchmark) -> Self {
        let specification = message.specification.unwrap_or_default();
        Self {
            name: message
                .name
                .rsplit('/')
                .next()
                .unwrap_or_default()
                .to_owned(),
            title: specification.title,
            evaluators: specification
                .evaluators
                .into_iter()
                .map(|each| each.name)
                .collect(),
            truth_geometry: Geometry::decode(message.truth_geometry),
            detection_geometry: Geometry::decode(message.detection_geometry),
            open_time: time(message.open_time),
            close_time: time(message.close_time),
            create_time: time(message.create_time),
            update_time: time(message.update_time),
        }
    }
}

/// State of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubmissionState {
    /// A state that this client does not know.
    Unknown,
    /// Created; no frames have arrived.
    Open,
    /// Frames have arrived.
    Receiving,
    /// No more frames are accepted; scoring has not begun.
    Sealed,
    /// Sealed, and waiting for missing truth.
    WaitingForTruth,
    /// Being scored.
    Scoring,
    /// Scored.
    Scored,
    /// Could not be scored; the reason says why.
    Failed,
    /// Cancelled.
    Cancelled,
}

impl SubmissionState {
    /// Whether the state changes no more by itself.
    #[must_use]
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Scored | Self::Failed | Self::Cancelled)
    }

    /// The state in lower case with underscores, such as `waiting_for_truth`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Open => "open",
            Self::Receiving => "receiving",
            Self::Sealed => "sealed",
            Self::WaitingForTruth => "waiting_for_truth",
            Self::Scoring => "scoring",
            Self::Scored => "scored",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    fn decode(state: wire::SubmissionState) -> Self {
        match state {
            wire::SubmissionState::Unspecified => Self::Unknown,
            wire::SubmissionState::Open => Self::Open,
            wire::SubmissionState::Receiving => Self::Receiving,
            wire::SubmissionState::Sealed => Self::Sealed,
            wire::SubmissionState::WaitingForTruth => Self::WaitingForTruth,
            wire::SubmissionState::Scoring => Self::Scoring,
            wire::SubmissionState::Scored => Self::Scored,
            wire::SubmissionState::Failed => Self::Failed,
            wire::SubmissionState::Cancelled => Self::Cancelled,
        }
    }
}

impl fmt::Display for SubmissionState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An append stream of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamInfo {
    /// Its name within the submission.
    pub stream: String,
    /// Epoch of its present writer.
    pub epoch: i64,
    /// Offset of its next frame: the number of durable frames.
    pub next_offset: u64,
}

impl StreamInfo {
    pub(crate) fn decode(message: wire::StreamInfo) -> Self {
        Self {
            stream: message.stream,
            epoch: message.epoch,
            next_offset: natural(message.next_offset),
        }
    }
}

/// One system's detections for a benchmark.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Submission {
    /// Full name: `benchmarks/{benchmark}/submissions/{submission}`.
    pub name: String,
    /// Team that it belongs to.
    pub team: String,
    /// Title for people.
    pub title: String,
    /// Its state.
    pub state: SubmissionState,
    /// Stable code for why it has this state.
    pub state_reason: String,
    /// The reason for people.
    pub state_message: String,
    /// Time since which it has this state.
    pub state_time: Option<SystemTime>,
    /// When it was created.
    pub create_time: Option<SystemTime>,
    /// When it was sealed; `None` before.
    pub seal_time: Option<SystemTime>,
    /// Number of durable frames, in all streams together.
    pub frame_count: u64,
    /// Its append streams.
    pub streams: Vec<StreamInfo>,
    /// Increases with each change.
    pub revision: i64,
    /// Doubts about its detections, for people: names that the benchmark does not have, if names
    /// are public.
    pub warnings: Vec<String>,
}

impl Submission {
    /// One of its streams; `None` if there is none.
    #[must_use]
    pub fn stream(&self, name: &str) -> Option<&StreamInfo> {
        self.streams.iter().find(|known| known.stream == name)
    }

    pub(crate) fn decode(message: Option<wire::Submission>) -> Self {
        let message = message.unwrap_or_default();
        Self {
            state: SubmissionState::decode(message.state()),
            name: message.name,
            team: message.team,
            title: message.title,
            state_reason: message.state_reason,
            state_message: message.state_message,
            state_time: time(message.state_time),
            create_time: time(message.create_time),
            seal_time: time(message.seal_time),
            frame_count: natural(message.frame_count),
            streams: message
                .streams
                .into_iter()
                .map(StreamInfo::decode)
                .collect(),
            revision: message.revision,
            warnings: message.warnings,
        }
    }
}

/// A score of a submission; it never changes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubmissionScore {
    /// Full name; empty for a live score.
    pub name: String,
    /// When it was made.
    pub create_time: Option<SystemTime>,
    /// Revision of the truth; only for organisers, otherwise 0.
    pub truth_revision: i64,
    /// The part of the report that the caller may see.
    pub report: Report,
    /// Whether the truth was not complete; frames without truth were left out.
    pub partial: bool,
    /// Whether it is the one score of its evaluator to show.
    pub current: bool,
}

impl SubmissionScore {
    pub(crate) fn decode(message: wire::SubmissionScore) -> Self {
        Self {
            name: message.name,
            create_time: time(message.create_time),
            truth_revision: message.truth_revision,
            report: Report::decode(message.report.unwrap_or_default()),
            partial: message.partial,
            current: message.current,
        }
    }
}

/// A submission at a revision, and the scores that may be seen then.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SubmissionUpdate {
    /// The submission.
    pub submission: Submission,
    /// The scores.
    pub scores: Vec<SubmissionScore>,
}

impl SubmissionUpdate {
    pub(crate) fn decode(message: wire::WatchSubmissionResponse) -> Self {
        Self {
            submission: Submission::decode(message.submission),
            scores: message
                .scores
                .into_iter()
                .map(SubmissionScore::decode)
                .collect(),
        }
    }
}

/// Selects a board of a benchmark.
#[derive(Clone, Debug, Default)]
pub struct LeaderboardQuery {
    pub(crate) benchmark: String,
    pub(crate) evaluator: String,
    pub(crate) domain: Option<String>,
    pub(crate) label: Option<String>,
}

impl LeaderboardQuery {
    /// The board of a benchmark's first evaluator over everything.
    #[must_use]
    pub fn new(benchmark: impl Into<String>) -> Self {
        Self {
            benchmark: benchmark.into(),
            ..Self::default()
        }
    }

    /// Another evaluator.
    #[must_use]
    pub fn evaluator(mut self, evaluator: impl Into<String>) -> Self {
        self.evaluator = evaluator.into();
        self
    }

    /// Only one domain.
    #[must_use]
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = Some(domain.into());
        self
    }

    /// Only one class.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }
}

impl<Name: Into<String>> From<Name> for LeaderboardQuery {
    fn from(benchmark: Name) -> Self {
        Self::new(benchmark)
    }
}

/// One submission on the board.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LeaderboardRow {
    /// Rank from 1 on; equal scores share one. 0 if the row is apart.
    pub rank: i32,
    /// Team.
    pub team: String,
    /// Full name of the submission, if it may be seen; otherwise empty.
    pub submission: String,
    /// Its title.
    pub title: String,
    /// When it was sealed.
    pub seal_time: Option<SystemTime>,
    /// Released measures by name; `None` if one is undefined.
    pub scores: BTreeMap<String, Option<f64>>,
    /// Revision of the truth under which the scores were computed.
    pub truth_revision: i64,
    /// Version of the evaluator that computed them.
    pub evaluator_version: String,
    /// Whether the scores cannot be compared with those of the ranked rows: the submission could
    /// not be scored again under the same truth, evaluator and parameters.
    pub apart: bool,
}

/// Submissions in rank order.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Leaderboard {
    /// The rows, best rank first.
    pub rows: Vec<LeaderboardRow>,
    /// Measures that rank, first one first.
    pub ranking: Vec<String>,
    /// Revision of the truth of the ranked scores; 0 for none.
    pub truth_revision: i64,
    /// Newest complete revision of the truth; 0 for none.
    pub newest_truth_revision: i64,
}

impl Leaderboard {
    /// Add the next page.
    pub(crate) fn extend(&mut self, page: wire::GetLeaderboardResponse) {
        self.rows.extend(page.rows.into_iter().map(decode_row));
        self.ranking = page.ranking;
        self.truth_revision = page.truth_revision;
        self.newest_truth_revision = page.newest_truth_revision;
    }
}

fn decode_row(message: wire::LeaderboardRow) -> LeaderboardRow {
    let scores = message.scores.into_iter();
    LeaderboardRow {
        rank: message.rank,
        team: message.team,
        submission: message.submission,
        title: message.title,
        seal_time: time(message.seal_time),
        scores: scores.map(|score| (score.measure, score.value)).collect(),
        truth_revision: message.truth_revision,
        evaluator_version: message.evaluator_version,
        apart: message.apart,
    }
}

/// A number that the protocol never makes negative.
pub(crate) fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

pub(crate) fn time(message: Option<Timestamp>) -> Option<SystemTime> {
    message.and_then(|time| SystemTime::try_from(time).ok())
}

package vidscore

import (
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// Benchmark is a hosted benchmark: a specification, truth and a policy.
type Benchmark struct {
	// Name is the last part of its name, such as streets.
	Name string
	// Specification is its title, evaluators, domains and sequences.
	Specification *vidscorev1.BenchmarkSpec
	// TruthGeometry is the shape of the truth's objects; UnknownGeometry until truth is uploaded.
	TruthGeometry Geometry
	// DetectionGeometry is the shape of detections, likewise.
	DetectionGeometry Geometry
	// OpenTime is when submissions may first be created; zero for at once.
	OpenTime time.Time
	// CloseTime is when submissions are sealed or cancelled; zero for never.
	CloseTime time.Time
	// Policy is what is shown, allowed and ranked.
	Policy     *vidscorev1.Policy
	CreateTime time.Time
	UpdateTime time.Time
	// TruthRevision is the newest revision of the truth; only for organisers.
	TruthRevision int64
	// TruthDigest is a digest of that revision, keyed with a secret of the server.
	TruthDigest string
}

// SubmissionState is the state of a submission.
type SubmissionState string

// The states of a submission.
const (
	StateUnknown         SubmissionState = "unknown"
	StateOpen            SubmissionState = "open"
	StateReceiving       SubmissionState = "receiving"
	StateSealed          SubmissionState = "sealed"
	StateWaitingForTruth SubmissionState = "waiting_for_truth"
	StateScoring         SubmissionState = "scoring"
	StateScored          SubmissionState = "scored"
	StateFailed          SubmissionState = "failed"
	StateCancelled       SubmissionState = "cancelled"
)

// HasEnded reports whether the state changes no more by itself.
func (state SubmissionState) HasEnded() bool {
	return state == StateScored || state == StateFailed || state == StateCancelled
}

// StreamInfo is an append stream: its name, the epoch of its writer, the offset of its next frame.
type StreamInfo struct {
	Stream     string
	Epoch      int64
	NextOffset int64
}

// Submission is one system's detections for a benchmark.
type Submission struct {
	// Name is the full name: benchmarks/{benchmark}/submissions/{submission}.
	Name string
	// Team that it belongs to.
	Team string
	// Title for people.
	Title string
	// State of the submission.
	State SubmissionState
	// StateReason is a stable code for why it has this state.
	StateReason string
	// StateMessage is the reason for people.
	StateMessage string
	// StateTime is the time since which it has this state.
	StateTime  time.Time
	CreateTime time.Time
	// SealTime is when it was sealed; zero before.
	SealTime time.Time
	// FrameCount is the number of durable frames, in all streams together.
	FrameCount int64
	// Streams is its append streams.
	Streams []StreamInfo
	// Revision increases with each change of the submission.
	Revision int64
	// Warnings is doubts about its detections, for people: names that the benchmark does not have,
	// if names are public.
	Warnings []string
}

// Stream is one of its append streams; nil if there is none of that name.
func (submission *Submission) Stream(name string) *StreamInfo {
	for index := range submission.Streams {
		if submission.Streams[index].Stream == name {
			return &submission.Streams[index]
		}
	}
	return nil
}

// SubmissionScore is a score of a submission; it never changes.
type SubmissionScore struct {
	// Name is the full name; empty for a live score.
	Name       string
	CreateTime time.Time
	// TruthRevision is the revision of the truth; only for organisers.
	TruthRevision int64
	// Report is the part of the report that the caller may see.
	Report *Report
	// Partial is whether the truth was not complete; frames without truth were left out.
	Partial bool
	// Current is whether it is the one score of its evaluator to show.
	Current bool
}

// SubmissionUpdate is a submission at a revision, with the scores that may be seen then.
type SubmissionUpdate struct {
	Submission *Submission
	Scores     []*SubmissionScore
}

// LeaderboardRow is one submission on the board.
type LeaderboardRow struct {
	// Rank from 1 on; equal scores share one. 0 if the row is apart.
	Rank int
	Team string
	// Submission is its full name, if it may be seen; otherwise empty.
	Submission string
	Title      string
	SealTime   time.Time
	// Scores is the released measures by name; nil if one is undefined.
	Scores map[string]*float64
	// TruthRevision is the revision of the truth under which the scores were computed.
	TruthRevision int64
	// EvaluatorVersion is the version of the evaluator that computed them.
	EvaluatorVersion string
	// Apart is whether the scores cannot be compared with those of the ranked rows: the submission
	// could not be scored again under the same truth, evaluator and parameters.
	Apart bool
}

// Leaderboard is the submissions in rank order.
type Leaderboard struct {
	// Rows, best rank first.
	Rows []LeaderboardRow
	// Ranking is the measures that rank, first one first.
	Ranking []string
	// TruthRevision is the revision of the truth of the ranked scores; 0 for none.
	TruthRevision int64
	// NewestTruthRevision is the newest complete revision of the truth; 0 for none.
	NewestTruthRevision int64
}

func decodeBenchmark(message *vidscorev1.Benchmark) *Benchmark {
	truth, _ := decodeGeometry(message.GetTruthGeometry())
	detection, _ := decodeGeometry(message.GetDetectionGeometry())
	return &Benchmark{
		Name:              lastPart(message.GetName()),
		Specification:     message.GetSpecification(),
		TruthGeometry:     truth,
		DetectionGeometry: detection,
		OpenTime:          decodeTime(message.GetOpenTime()),
		CloseTime:         decodeTime(message.GetCloseTime()),
		Policy:            message.GetPolicy(),
		CreateTime:        decodeTime(message.GetCreateTime()),
		UpdateTime:        decodeTime(message.GetUpdateTime()),
		TruthRevision:     message.GetTruthRevision(),
		TruthDigest:       message.GetTruthDigest(),
	}
}

func decodeSubmission(message *vidscorev1.Submission) *Submission {
	submission := &Submission{
		Name:         message.GetName(),
		Team:         message.GetTeam(),
		Title:        message.GetTitle(),
		State:        decodeState(message.GetState()),
		StateReason:  message.GetStateReason(),
		StateMessage: message.GetStateMessage(),
		StateTime:    decodeTime(message.GetStateTime()),
		CreateTime:   decodeTime(message.GetCreateTime()),
		SealTime:     decodeTime(message.GetSealTime()),
		FrameCount:   message.GetFrameCount(),
		Revision:     message.GetRevision(),
		Warnings:     message.GetWarnings(),
	}
	for _, stream := range message.GetStreams() {
		submission.Streams = append(submission.Streams, decodeStream(stream))
	}
	return submission
}

func decodeState(state vidscorev1.SubmissionState) SubmissionState {
	name, known := vidscorev1.SubmissionState_name[int32(state)]
	if !known || state == vidscorev1.SubmissionState_SUBMISSION_STATE_UNSPECIFIED {
		return StateUnknown
	}
	return SubmissionState(strings.ToLower(strings.TrimPrefix(name, "SUBMISSION_STATE_")))
}

func decodeStream(message *vidscorev1.StreamInfo) StreamInfo {
	return StreamInfo{message.GetStream(), message.GetEpoch(), message.GetNextOffset()}
}

func decodeScores(messages []*vidscorev1.SubmissionScore) []*SubmissionScore {
	scores := make([]*SubmissionScore, len(messages))
	for index, message := range messages {
		scores[index] = &SubmissionScore{
			Name:          message.GetName(),
			CreateTime:    decodeTime(message.GetCreateTime()),
			TruthRevision: message.GetTruthRevision(),
			Report:        decodeReport(message.GetReport()),
			Partial:       message.GetPartial(),
			Current:       message.GetCurrent(),
		}
	}
	return scores
}

func decodeLeaderboardRow(message *vidscorev1.LeaderboardRow) LeaderboardRow {
	row := LeaderboardRow{
		Rank:             int(message.GetRank()),
		Team:             message.GetTeam(),
		Submission:       message.GetSubmission(),
		Title:            message.GetTitle(),
		SealTime:         decodeTime(message.GetSealTime()),
		Scores:           map[string]*float64{},
		TruthRevision:    message.GetTruthRevision(),
		EvaluatorVersion: message.GetEvaluatorVersion(),
		Apart:            message.GetApart(),
	}
	for _, score := range message.GetScores() {
		row.Scores[score.GetMeasure()] = score.Value
	}
	return row
}

func decodeTime(message *timestamppb.Timestamp) time.Time {
	if message == nil {
		return time.Time{}
	}
	return message.AsTime()
}

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

func evaluators(ctx context.Context, client *vidscore.Client, _ *options) (any, error) {
	found, err := client.Evaluators(ctx)
	descriptions := []document{}
	for _, evaluator := range found {
		measures := []string{}
		for _, measure := range evaluator.Measures {
			measures = append(measures, measure.Name)
		}
		descriptions = append(descriptions, document{
			"name": evaluator.Name, "version": evaluator.Version, "title": evaluator.Title, "measures": measures,
		})
	}
	return document{"evaluators": descriptions}, err
}

func health(ctx context.Context, client *vidscore.Client, _ *options) (any, error) {
	status, err := client.Health(ctx, "")
	return document{"status": strings.ToUpper(string(status))}, err
}

func score(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	if options.deadline > 0 {
		limited, cancel := context.WithTimeout(ctx, seconds(options.deadline))
		defer cancel()
		ctx = limited
	}
	found, err := readGolden(options.frames)
	if err != nil {
		return nil, err
	}
	wanted, err := found.options()
	if err != nil {
		return nil, err
	}
	wanted.Batching = options.batching()
	live := []document{}
	if options.liveEveryFrames > 0 {
		wanted.Live = &vidscore.Live{EveryFrames: options.liveEveryFrames, OnReport: func(report *vidscore.LiveReport) error {
			live = append(live, document{
				"paired_frames":                 report.Coverage.PairedFrames,
				"frames_waiting_for_detections": report.Coverage.FramesWaitingForDetections,
				"frames_waiting_for_truth":      report.Coverage.FramesWaitingForTruth,
			})
			return nil
		}}
	}
	stream, err := client.ScoreStream(ctx, wanted)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	if cancelled, err := sendAll(ctx, stream, found, options); err != nil || cancelled {
		return document{"cancelled": true}, err
	}
	reports, err := stream.Finish(ctx)
	return document{"reports": reportsJSON(reports), "live": live}, err
}

// sendAll sends frames one by one: truth first, then detections; it reports whether it was
// cancelled.
func sendAll(ctx context.Context, stream *vidscore.ScoreStream, found *golden, options *options) (bool, error) {
	truth, err := framesOf(found.Truth)
	if err != nil {
		return false, err
	}
	detections, err := framesOf(found.Detections)
	if err != nil {
		return false, err
	}
	for index, frame := range append(truth, detections...) {
		send := stream.SendTruth
		if index >= len(truth) {
			send = stream.Send
		}
		if err := send(ctx, frame); err != nil {
			return false, err
		}
		if index+1 == options.cancelAfterFrames {
			return true, stream.Close()
		}
	}
	return false, nil
}

func submit(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	found, err := readGolden(options.frames)
	if err != nil {
		return nil, err
	}
	acknowledged := &offsets{dieAt: options.dieAfterAcknowledged}
	delivery := options.delivery()
	delivery.OnAcknowledged = acknowledged.add
	stream, err := client.Submit(ctx, options.benchmark, vidscore.SubmitOptions{
		Submission: options.submission, Stream: options.stream, Title: options.title, Replay: options.replay,
		Batching: options.batching(), Delivery: delivery,
	})
	if err != nil {
		return nil, err
	}
	defer stream.Abort()
	frames, err := framesOf(found.Detections)
	if err != nil {
		return nil, err
	}
	for _, frame := range frames {
		if err := stream.Send(ctx, frame); err != nil {
			return nil, err
		}
		if options.rate > 0 {
			time.Sleep(seconds(1 / options.rate))
		}
	}
	if options.closing {
		return document{"undelivered_frames": 0}, stream.Close()
	}
	durable, err := stream.Flush(ctx)
	if err != nil {
		return nil, err
	}
	submission, err := ended(ctx, client, stream, int64(len(frames)), options)
	if err != nil {
		return nil, err
	}
	scores, err := stream.Scores(ctx)
	return document{
		"submission": stream.Submission(), "opened_offset": stream.NextOffset(),
		"acknowledged": acknowledged.all(), "acknowledged_frames": durable,
		"state": submission.State, "state_reason": submission.StateReason,
		"frame_count": submission.FrameCount, "scores": scoresJSON(scores),
	}, err
}

// ended is the submission when it has ended or, if it is not sealed, as it is.
func ended(
	ctx context.Context, client *vidscore.Client, stream *vidscore.SubmissionStream, frames int64, options *options,
) (*vidscore.Submission, error) {
	if options.noSeal {
		return client.GetSubmission(ctx, stream.Submission())
	}
	if _, err := stream.Seal(ctx, frames); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, seconds(options.wait))
	defer cancel()
	return stream.Wait(ctx)
}

// offsets is the numbers passed to the acknowledgement callback.
type offsets struct {
	lock  sync.Mutex
	found []int64
	dieAt int64
}

func (offsets *offsets) add(frames int64) error {
	if offsets.dieAt > 0 && frames >= offsets.dieAt {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	offsets.lock.Lock()
	defer offsets.lock.Unlock()
	offsets.found = append(offsets.found, frames)
	return nil
}

func (offsets *offsets) all() []int64 {
	offsets.lock.Lock()
	defer offsets.lock.Unlock()
	return append([]int64{}, offsets.found...)
}

func watch(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	updates := []document{}
	var state vidscore.SubmissionState
	for update, err := range client.WatchSubmission(ctx, options.submission) {
		if err != nil {
			return nil, err
		}
		state = update.Submission.State
		updates = append(updates, document{
			"state": state, "frame_count": update.Submission.FrameCount, "revision": update.Submission.Revision,
		})
	}
	return document{"updates": updates, "state": state}, nil
}

func get(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	submission, err := client.GetSubmission(ctx, options.submission)
	if err != nil {
		return nil, err
	}
	return document{"submission": submissionJSON(submission)}, nil
}

func cancel(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	submission, err := client.CancelSubmission(ctx, options.submission)
	if err != nil {
		return nil, err
	}
	return document{"submission": submissionJSON(submission)}, nil
}

func leaderboard(ctx context.Context, client *vidscore.Client, options *options) (any, error) {
	board, err := client.Leaderboard(ctx, options.benchmark, vidscore.LeaderboardOptions{})
	if err != nil {
		return nil, err
	}
	rows := []document{}
	for _, row := range board.Rows {
		rows = append(rows, document{
			"rank": row.Rank, "team": row.Team, "submission": row.Submission, "values": row.Scores,
		})
	}
	return document{"rows": rows}, nil
}

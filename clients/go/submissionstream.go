package vidscore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// nameTaken is the reason for which a submission that exists cannot be created.
const nameTaken = "NAME_TAKEN"

// SubmitOptions is how detections are sent into a submission.
type SubmitOptions struct {
	// Submission is the last part of the submission's name: 1 to 63 lower-case letters, digits and
	// hyphens, a letter first; empty: the server chooses.
	Submission string
	// Stream is the stream of the submission that this program writes; "default" by default.
	// Programs that send at the same time use a stream each; opening a stream that another program
	// writes excludes that program.
	Stream string
	// Title of a new submission, for people.
	Title string
	// Replay is whether the caller sends the same frames again from the first one on, in the same
	// order, so that durable ones are left out.
	Replay bool
	// Batching is how frames are batched, and what happens if the server is slow.
	Batching Batching
	// Delivery is how frames are kept until they are acknowledged, and what happens after a break.
	Delivery Delivery
}

// SubmissionStream is a stream of detections into a submission; made by [Client.Submit].
type SubmissionStream struct {
	client *Client
	opened *openedStream
	sender *sender
}

// Submit opens a stream of detections into a submission to a hosted benchmark. It must be closed.
// The stream ends when the context is done.
//
// The submission is created if it does not exist. A program that dies and starts again continues by
// naming the same submission and stream: [SubmissionStream.NextOffset] is the number of durable
// frames, and Replay leaves exactly these out.
//
// Errors: [ErrNotFound] if there is no such benchmark, [ErrConflict] if it takes no detections yet,
// [ErrQuotaExceeded] if the team may have no more submissions, [ErrSubmissionEnded] if the
// submission takes no more frames.
func (client *Client) Submit(ctx context.Context, benchmark string, options SubmitOptions) (*SubmissionStream, error) {
	batching, batchingErr := options.Batching.checked()
	delivery, deliveryErr := options.Delivery.checked()
	if err := firstError(batchingErr, deliveryErr); err != nil {
		return nil, err
	}
	streamContext, cancel, err := client.streamContext(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := client.openStream(ctx, benchmark, options)
	if err != nil {
		cancel()
		return nil, err
	}
	sender := &sender{
		client:   client,
		opened:   opened,
		delivery: delivery,
		context:  streamContext,
		cancel:   cancel,
		guard:    newMonitor(),
		told:     opened.info.NextOffset,
		state:    newAppendState(opened.info, batching, delivery, options.Replay),
	}
	sender.state.outbox.keepTo(opened.limits)
	sender.start()
	stream := &SubmissionStream{client, opened, sender}
	client.streams.Store(stream, nil)
	return stream, nil
}

// Submission is the full name of the submission.
func (stream *SubmissionStream) Submission() string { return stream.opened.submission.Name }

// NextOffset is the number of frames of the stream that were durable when it was opened, the offset
// from which to continue.
func (stream *SubmissionStream) NextOffset() int64 { return stream.opened.info.NextOffset }

// AcknowledgedFrames is the number of frames of the stream that are known to be durable.
func (stream *SubmissionStream) AcknowledgedFrames() int64 {
	stream.sender.guard.Lock()
	defer stream.sender.guard.Unlock()
	return stream.sender.state.acknowledged
}

// Send sends one whole frame of detections; it returns as soon as the frame is queued. A frame is
// sent once, over all streams of the submission.
//
// Errors: [ErrInput] for a frame of the wrong shape, [ErrBackPressure] if the queue is full, as the
// policy says, and the error with which the stream failed, such as [ErrSuperseded].
func (stream *SubmissionStream) Send(ctx context.Context, frame Frame) error {
	return stream.sender.put(ctx, []Frame{frame}, true)
}

// SendBatch sends many whole frames, which do not wait for others. Its errors are those of
// [SubmissionStream.Send].
func (stream *SubmissionStream) SendBatch(ctx context.Context, frames []Frame) error {
	return stream.sender.put(ctx, frames, false)
}

// Flush waits until all sent frames are durable and OnAcknowledged was called with them. It returns
// the number of durable frames of the stream.
//
// Errors: [ErrDeadline] if they are not durable when the context is done; the stream continues.
// [ErrCallback] in OnAcknowledged, for which it would wait.
func (stream *SubmissionStream) Flush(ctx context.Context) (int64, error) {
	return stream.sender.flush(ctx)
}

// UndeliveredFrames is the number of accepted frames that are not known to be durable; after the
// end of the stream, of dropped frames.
func (stream *SubmissionStream) UndeliveredFrames() int {
	stream.sender.guard.Lock()
	defer stream.sender.guard.Unlock()
	return stream.sender.state.undelivered()
}

// Close delivers the accepted frames and ends the stream, within [Delivery.CloseTimeout]; the
// submission stays open. Close may be called again; after [SubmissionStream.Abort] it does nothing.
// When it returns, everything has ended except a running callback.
//
// Errors: [ErrDeadline] if frames are not durable in time; they are dropped, and the text and
// UndeliveredFrames give their number. [ErrCallback] in OnAcknowledged, for which it would wait. The
// error with which the stream failed, if frames are left.
func (stream *SubmissionStream) Close() error {
	if err := stream.sender.refuseInCallback(); err != nil {
		return err // the client still closes it
	}
	defer stream.client.forget(stream)
	return stream.sender.close()
}

// Abort ends the stream at once and drops the frames that are not durable. The submission stays
// open.
func (stream *SubmissionStream) Abort() {
	defer stream.client.forget(stream)
	stream.sender.abort()
}

// Seal waits until all frames are durable, ends the stream and seals the submission. expectedFrames
// is the number of frames that must be durable in all streams together, or [AnyFrameCount].
//
// Errors: [ErrDeadline] if the frames are not durable when the context is done; the stream
// continues. [ErrConflict] with reason FRAME_COUNT_DIFFERS if another number of frames is durable;
// nothing is sealed.
func (stream *SubmissionStream) Seal(ctx context.Context, expectedFrames int64) (*Submission, error) {
	if _, err := stream.Flush(ctx); err != nil {
		return nil, err
	}
	if err := stream.Close(); err != nil {
		return nil, err
	}
	return stream.client.seal(ctx, stream.Submission(), expectedFrames, stream.sender.delivery.Retry)
}

// Wait waits until the submission has ended; see [Client.WaitSubmission].
func (stream *SubmissionStream) Wait(ctx context.Context) (*Submission, error) {
	return stream.client.wait(ctx, stream.Submission(), stream.sender.delivery.Retry)
}

// Scores is the scores of the submission that the caller may see, newest first.
func (stream *SubmissionStream) Scores(ctx context.Context) ([]*SubmissionScore, error) {
	return stream.client.Scores(ctx, stream.Submission())
}

// openStream finds or creates a submission, and opens one of its append streams.
func (client *Client) openStream(ctx context.Context, benchmark string, options SubmitOptions) (*openedStream, error) {
	if err := validText("Stream", options.Stream); err != nil {
		return nil, err
	}
	hosted, err := client.Benchmark(ctx, benchmark)
	if err != nil {
		return nil, err
	}
	if hosted.DetectionGeometry == UnknownGeometry {
		return nil, &Error{
			Kind: ErrConflict,
			Message: hosted.Name + " takes no detections yet: their geometry follows from the truth, " +
				"which has not been uploaded",
			Reason: "BENCHMARK_NOT_OPEN",
		}
	}
	submission, err := client.findOrCreate(ctx, hosted.Name, options)
	if err != nil {
		return nil, err
	}
	request := &vidscorev1.OpenStreamRequest{Submission: submission.Name, Stream: options.Stream}
	response, err := unary(ctx, client, client.submissions.OpenStream, request)
	if err != nil {
		return nil, err
	}
	return &openedStream{
		submission: submission,
		info:       decodeStream(response.GetStream()),
		arity:      hosted.DetectionGeometry.Arity(),
		limits:     response.GetLimits(),
	}, nil
}

func (client *Client) findOrCreate(ctx context.Context, benchmark string, options SubmitOptions) (*Submission, error) {
	if options.Submission == "" {
		return client.CreateSubmission(ctx, benchmark, "", options.Title)
	}
	if strings.Contains(options.Submission, "/") {
		return nil, inputError("submission", fmt.Sprintf("%.80q", options.Submission), "a name like {submission}")
	}
	name := benchmark + "/" + options.Submission
	found, err := client.GetSubmission(ctx, name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	// Nobody has seen the title of a draft, so an earlier one must not stay.
	if err == nil && (found.State != StateOpen || options.Title == "" || options.Title == found.Title) {
		return found, nil
	}
	created, err := client.CreateSubmission(ctx, benchmark, options.Submission, options.Title)
	var taken *Error
	if !errors.As(err, &taken) || taken.Reason != nameTaken {
		return created, err
	}
	// Another process of the same submission may just have created it.
	found, err = client.GetSubmission(ctx, name)
	if errors.Is(err, ErrNotFound) {
		return nil, taken // it belongs to another team
	}
	return found, err
}

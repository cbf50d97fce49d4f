package vidscore

import (
	"context"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// ScoreOptions is what to score, and how.
type ScoreOptions struct {
	// Evaluators judge, instead of those of the specification; empty: the specification's own.
	Evaluators []Evaluator
	// Specification is the facts that the data cannot give; nil for none.
	Specification *vidscorev1.BenchmarkSpec
	// TruthGeometry is the shape of the truth's objects; Box by default.
	TruthGeometry Geometry
	// DetectionGeometry is the shape of the detections; Box by default.
	DetectionGeometry Geometry
	// Live is when live reports are sent; nil for never.
	Live *Live
	// Batching is how frames are batched, and what happens if the server is slow.
	Batching Batching
}

// ScoreStream is a stream that is being scored; made by [Client.ScoreStream].
type ScoreStream struct {
	guard   *monitor
	state   *streamState
	arities [sides]int
	onLive  func(*LiveReport) error
	call    vidscorev1.ScoringService_ScoreClient
	cancel  context.CancelFunc
	work    sync.WaitGroup // the goroutines that send and receive
	telling running        // OnReport
}

// newScoreStream sends the configuration. If it succeeds, the stream calls cancel at its end.
func newScoreStream(
	ctx context.Context, cancel context.CancelFunc, scoring vidscorev1.ScoringServiceClient, options ScoreOptions,
) (*ScoreStream, error) {
	live, liveErr := options.Live.checked()
	batching, batchingErr := options.Batching.checked()
	configuration, encodeErr := encodeConfiguration(&options, live)
	if err := firstError(
		liveErr, batchingErr, encodeErr,
		oneOf("TruthGeometry", options.TruthGeometry, Point, Box, Quadrilateral),
		oneOf("DetectionGeometry", options.DetectionGeometry, Point, Box, Quadrilateral),
	); err != nil {
		return nil, err
	}
	call, err := scoring.Score(ctx)
	if err != nil {
		return nil, fromCall(err, ctx)
	}
	stream := &ScoreStream{
		guard:   newMonitor(),
		state:   newStreamState(batching, live),
		arities: [sides]int{Truth: options.TruthGeometry.Arity(), Detections: options.DetectionGeometry.Arity()},
		call:    call,
		cancel:  cancel,
	}
	if live != nil {
		stream.onLive = live.OnReport
	}
	first := &vidscorev1.ScoreRequest{Message: &vidscorev1.ScoreRequest_Configuration{Configuration: configuration}}
	stream.work.Add(2)
	go stream.receive(ctx)
	go stream.send(ctx, first)
	return stream, nil
}

// ServerVersion is the version of the server.
func (stream *ScoreStream) ServerVersion() string {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	return stream.state.started.GetServerVersion()
}

// Limits is the limits of this stream, by the names of the server's settings.
func (stream *ScoreStream) Limits() map[string]int64 {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	return stream.state.started.GetLimits()
}

// Latest is the newest live report; nil before the first one.
func (stream *ScoreStream) Latest() *LiveReport {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	return stream.state.latest
}

// SendTruth sends one whole frame of the truth; it returns as soon as the frame is queued.
//
// Errors: [ErrInput] for a frame of the wrong shape, [ErrBackPressure] if the queue is full, as the
// policy says, and the error with which the stream failed.
func (stream *ScoreStream) SendTruth(ctx context.Context, frame Frame) error {
	return stream.put(ctx, Truth, []Frame{frame}, true)
}

// Send sends one whole frame of detections; it returns as soon as the frame is queued. Its errors
// are those of [ScoreStream.SendTruth].
func (stream *ScoreStream) Send(ctx context.Context, frame Frame) error {
	return stream.put(ctx, Detections, []Frame{frame}, true)
}

// SendBatch sends many whole frames of one side, which do not wait for others. Its errors are those
// of [ScoreStream.SendTruth].
func (stream *ScoreStream) SendBatch(ctx context.Context, side Side, frames []Frame) error {
	if err := oneOf("side", side, Truth, Detections); err != nil {
		return err
	}
	return stream.put(ctx, side, frames, false)
}

// LiveReports is live reports as they come, until the stream ends or the context is done. Each
// report goes to one reader. If the stream failed, its error comes last.
func (stream *ScoreStream) LiveReports(ctx context.Context) iter.Seq2[*LiveReport, error] {
	return func(yield func(*LiveReport, error) bool) {
		for {
			report, err := stream.nextReport(ctx)
			if report == nil && err == nil {
				return
			}
			if !yield(report, err) || err != nil {
				return
			}
		}
	}
}

// Finish sends the queued frames, ends the input, and waits for the final reports: one for each
// evaluator, in the requested order. If the context is done before, the stream continues, and
// Finish may be called again. In OnReport, for which it would wait, it returns [ErrCallback].
func (stream *ScoreStream) Finish(ctx context.Context) ([]*Report, error) {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	if err := stream.telling.refuse("Finish", "OnReport"); err != nil {
		return nil, err
	}
	stream.state.close()
	stream.guard.notify()
	for !stream.state.ended {
		if ctx.Err() != nil {
			return nil, contextError(ctx.Err(), "the final report did not arrive")
		}
		stream.guard.wait(ctx)
	}
	return stream.state.finalReports()
}

// Close ends the stream, at once and without a report if it has not ended. It may be called again.
// When it returns, everything has ended except a running callback.
func (stream *ScoreStream) Close() error {
	stream.end(&Error{
		Kind: ErrCallCancelled, Message: "the stream was cancelled by this client",
		Code: "CANCELLED", Reason: "CANCELLED",
	})
	stream.cancel()
	stream.guard.Lock()
	telling := stream.telling != ""
	stream.guard.Unlock()
	if !telling {
		stream.work.Wait()
	}
	return nil
}

// notAccepted is the error of a stream that was not opened in time.
func notAccepted(opening context.Context) *Error {
	return contextError(opening.Err(), "the server did not accept the stream")
}

// awaitStart waits for the server to accept the configuration.
func (stream *ScoreStream) awaitStart(ctx context.Context) error {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	for stream.state.started == nil && !stream.state.ended && ctx.Err() == nil {
		stream.guard.wait(ctx)
	}
	if stream.state.started != nil {
		return nil // later errors are returned by later calls
	}
	if ctx.Err() != nil {
		return notAccepted(ctx)
	}
	_, err := stream.state.finalReports()
	return firstError(err, internalError("the server ended the stream without having accepted it"))
}

func (stream *ScoreStream) put(ctx context.Context, side Side, frames []Frame, alone bool) error {
	items, err := newItems(frames, stream.arities[side])
	if err != nil || len(items) == 0 {
		return err
	}
	stream.guard.Lock()
	defer stream.guard.Unlock()
	var dueBefore time.Time
	var waitedBefore bool
	wanted := room{
		guard:    stream.guard,
		batching: stream.state.batching,
		admit: func() (bool, error) {
			// The sender may have gone to sleep while the caller waited.
			dueBefore, waitedBefore = stream.state.outbox.due()
			return stream.state.admit(side, items, alone, time.Now())
		},
		refusal: stream.state.refusal,
	}
	if err := wanted.await(ctx); err != nil {
		return err
	}
	// The sender sleeps until something is due; only an earlier time concerns it.
	if due, waits := stream.state.outbox.due(); waits != waitedBefore || !due.Equal(dueBefore) {
		stream.guard.notify()
	}
	return nil
}

func (stream *ScoreStream) nextReport(ctx context.Context) (*LiveReport, error) {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	for !stream.state.readable() {
		if ctx.Err() != nil {
			return nil, contextError(ctx.Err(), "the stream did not end")
		}
		stream.guard.wait(ctx)
	}
	return stream.state.nextReport()
}

// send is the goroutine that sends. It ignores errors of sending, because the receiver gets their
// cause.
func (stream *ScoreStream) send(ctx context.Context, first *vidscorev1.ScoreRequest) {
	defer stream.work.Done()
	err := stream.call.Send(first)
	for err == nil {
		next := stream.nextBatch(ctx)
		if len(next.items) == 0 {
			stream.closeSend(ctx)
			return
		}
		err = stream.call.Send(stream.request(next))
	}
	if !errors.Is(err, io.EOF) {
		stream.end(fromStatus(err)) // the message cannot be sent, because of a bug in this package
		stream.cancel()
	}
}

// closeSend ends the input, unless the call was cancelled: a server would score the frames so far.
func (stream *ScoreStream) closeSend(ctx context.Context) {
	stream.guard.Lock()
	ended := stream.state.ended
	stream.guard.Unlock()
	if !ended && ctx.Err() == nil {
		_ = stream.call.CloseSend() // it returns no error
	}
}

func (stream *ScoreStream) request(next batch) *vidscorev1.ScoreRequest {
	message := encodeItems(next.items, stream.arities[next.side])
	if next.side == Truth {
		return &vidscorev1.ScoreRequest{Message: &vidscorev1.ScoreRequest_Truth{Truth: message}}
	}
	return &vidscorev1.ScoreRequest{Message: &vidscorev1.ScoreRequest_Detections{Detections: message}}
}

// nextBatch waits for the next due batch; it is empty after the last one.
func (stream *ScoreStream) nextBatch(ctx context.Context) batch {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	for !stream.state.nothingToSend() && ctx.Err() == nil {
		if next := stream.state.take(time.Now()); len(next.items) > 0 {
			stream.guard.notify()
			return next
		}
		due, waits := stream.state.outbox.due()
		stream.guard.waitUntil(ctx, due, waits)
	}
	return batch{}
}

// receive is the goroutine that reads the responses.
func (stream *ScoreStream) receive(ctx context.Context) {
	defer stream.work.Done()
	defer stream.cancel() // the call is over, or a response is not understood
	for {
		response, err := stream.call.Recv()
		if errors.Is(err, io.EOF) {
			stream.end(nil)
			return
		}
		if err != nil {
			stream.end(fromCall(err, ctx))
			return
		}
		if failure := stream.handle(response); failure != nil {
			stream.end(failure)
			return
		}
	}
}

func (stream *ScoreStream) handle(response *vidscorev1.ScoreResponse) *Error {
	stream.guard.Lock()
	live, failure := stream.state.receive(response)
	tell := live != nil && stream.onLive != nil && !stream.state.ended
	if tell {
		stream.telling.begin()
	}
	stream.guard.notify()
	stream.guard.Unlock()
	if !tell {
		return failure
	}
	err := stream.onLive(live)
	stream.guard.Lock()
	stream.telling.end()
	stream.guard.Unlock()
	if err != nil {
		return callbackError("OnReport", err)
	}
	return nil
}

func (stream *ScoreStream) end(failure *Error) {
	stream.guard.Lock()
	defer stream.guard.Unlock()
	stream.state.end(failure)
	stream.guard.notify()
}

// inTurns alternates between both sides, so that few frames wait for the other side.
func inTurns(truth, detections []Frame) iter.Seq2[Side, []Frame] {
	const piece = 256
	return func(yield func(Side, []Frame) bool) {
		for first := 0; first < max(len(truth), len(detections)); first += piece {
			for side, frames := range [][]Frame{Truth: truth, Detections: detections} {
				part := frames[min(first, len(frames)):min(first+piece, len(frames))]
				if len(part) > 0 && !yield(Side(side), part) {
					return
				}
			}
		}
	}
}

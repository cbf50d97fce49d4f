package vidscore

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// quick is a delivery that retries soon.
var quick = Delivery{Retry: Retry{Initial: time.Millisecond, Maximum: 20 * time.Millisecond}}

// oneByOne makes a batch of each frame.
var oneByOne = Batching{BatchFrames: 1}

func submit(t *testing.T, client *Client, options SubmitOptions) *SubmissionStream {
	t.Helper()
	options.Submission = "run"
	if options.Delivery.Retry == (Retry{}) {
		options.Delivery.Retry = quick.Retry
	}
	stream, err := client.Submit(testContext(t), "streets", options)
	must(t, err)
	t.Cleanup(stream.Abort)
	return stream
}

func send(t *testing.T, stream *SubmissionStream, first, end int) {
	t.Helper()
	for _, frame := range boxes(first, end) {
		must(t, stream.Send(testContext(t), frame))
	}
}

func flush(t *testing.T, stream *SubmissionStream, expected int64) {
	t.Helper()
	durable, err := stream.Flush(testContext(t))
	must(t, err)
	equal(t, durable, expected)
}

// No message is larger than the server accepts.
func TestMessagesKeepToTheLimits(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.limits = map[string]int64{"maximum_batch_frames": 4, "maximum_message_bytes": 1 << 20}
	stream := submit(t, client, SubmitOptions{})
	must(t, stream.SendBatch(testContext(t), boxes(0, 10)))
	flush(t, stream, 10)
	fake.lock.Lock()
	defer fake.lock.Unlock()
	if !slices.Equal(fake.offsets, []int64{0, 4, 8}) {
		t.Errorf("batches begin at %v", fake.offsets)
	}
}

// Frames are durable in their order, the callback is told how many, and the submission is sealed.
func TestSubmitAndSeal(t *testing.T) {
	for _, unary := range []bool{false, true} {
		fake, client := serveSubmissions(t)
		var told []int64
		delivery := Delivery{Unary: unary, OnAcknowledged: func(frames int64) error {
			told = append(told, frames)
			return nil
		}}
		stream := submit(t, client, SubmitOptions{Batching: Batching{BatchFrames: 4}, Delivery: delivery})
		send(t, stream, 0, 10)
		must(t, stream.SendBatch(testContext(t), boxes(10, 20)))
		submission, err := stream.Seal(testContext(t), 20)
		must(t, err)
		equal(t, submission.State, StateSealed)
		equal(t, stream.AcknowledgedFrames(), 20)
		equal(t, *fake.expected, 20)
		fake.expectStored(t, 20)
		if !slices.IsSorted(told) || told[len(told)-1] != 20 {
			t.Errorf("told %v", told)
		}
		isKind(t, stream.Send(testContext(t), box(20)), ErrClosed)
	}
}

// Connections that are cut before a batch is stored, or before it is acknowledged, lose nothing and
// store nothing twice.
func TestCutConnectionsLoseNothing(t *testing.T) {
	for _, unary := range []bool{false, true} {
		fake, client := serveSubmissions(t)
		fake.before = []fault{nil, fake.cutting, nil, fake.cutting}
		fake.after = []fault{nil, fake.cutting, fake.cutting, nil, nil, fake.cutting}
		stream := submit(t, client, SubmitOptions{Batching: oneByOne, Delivery: Delivery{Unary: unary}})
		send(t, stream, 0, 30)
		flush(t, stream, 30)
		fake.expectStored(t, 30)
	}
}

// The stream continues after a break of any kind, and waits for a full disk.
func TestPassingErrorsAreGoneOver(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.before = []fault{
		refusing(codes.Unavailable, ""), refusing(codes.Internal, ""), refusing(codes.Unknown, ""),
		refusing(codes.Canceled, ""), refusing(codes.ResourceExhausted, "STORE_FULL"), nil,
		refusing(codes.OutOfRange, "OFFSET_GAP"), refusing(codes.OutOfRange, "OFFSET_STRADDLES"),
	}
	stream := submit(t, client, SubmitOptions{Batching: oneByOne})
	send(t, stream, 0, 5)
	flush(t, stream, 5)
	fake.expectStored(t, 5)
}

// An error that no retry can resolve ends the stream, after one try.
func TestLastingErrorsEndTheStream(t *testing.T) {
	for reason, expected := range map[string]struct {
		code codes.Code
		kind Kind
	}{
		"FRAME_EXISTS":        {codes.AlreadyExists, ErrConflict},
		"SUBMISSION_ENDED":    {codes.FailedPrecondition, ErrSubmissionEnded},
		"VERSION_UNSUPPORTED": {codes.FailedPrecondition, ErrVersion},
		"EPOCH_STALE":         {codes.Aborted, ErrSuperseded},
		"INVALID_FIELD":       {codes.InvalidArgument, ErrInvalidArgument},
	} {
		fake, client := serveSubmissions(t)
		fake.before = []fault{refusing(expected.code, reason)}
		stream := submit(t, client, SubmitOptions{})
		send(t, stream, 0, 3)
		_, err := stream.Flush(testContext(t))
		equal(t, isKind(t, err, expected.kind).Reason, reason)
		isKind(t, stream.Send(testContext(t), box(3)), expected.kind)
		equal(t, len(fake.offsets), 1)
	}
}

// A restarted server is found again, and a break while nothing is sent costs no retry time.
func TestRestartedServerIsFoundAgain(t *testing.T) {
	fake, client := serveSubmissions(t)
	hurried := quick
	hurried.Retry.GiveUpAfter = 30 * time.Second
	stream := submit(t, client, SubmitOptions{Delivery: hurried})
	send(t, stream, 0, 100)
	flush(t, stream, 100)
	fake.wire.stop()
	send(t, stream, 100, 150)
	fake.wire.start()
	send(t, stream, 150, 200)
	flush(t, stream, 200)
	fake.expectStored(t, 200)
}

// The stream gives up on an absent server.
func TestAbsentServerIsGivenUp(t *testing.T) {
	fake, client := serveSubmissions(t)
	stream := submit(t, client, SubmitOptions{Delivery: Delivery{
		Retry: Retry{Initial: time.Millisecond, Maximum: time.Millisecond, GiveUpAfter: 50 * time.Millisecond},
	}})
	fake.wire.stop()
	send(t, stream, 0, 3)
	_, err := stream.Flush(testContext(t))
	failure := isKind(t, err, ErrUnavailable)
	equal(t, failure.Retryable(), true)
}

// A connection without acknowledgements is replaced.
func TestSilentConnectionIsMadeAnew(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.hold = make(chan struct{})
	hold := fake.hold
	stream := submit(t, client, SubmitOptions{Delivery: Delivery{AcknowledgeTimeout: 50 * time.Millisecond, Retry: quick.Retry}})
	send(t, stream, 0, 3)
	waitUntil(t, "a second connection", func() bool {
		stream.sender.guard.Lock()
		defer stream.sender.guard.Unlock()
		return stream.sender.state.retrying.breaks > 0
	})
	close(hold)
	flush(t, stream, 3)
	fake.expectStored(t, 3)
}

// An older writer is told that it is superseded, and never excludes the newer one.
func TestOlderWriterIsSuperseded(t *testing.T) {
	fake, client := serveSubmissions(t)
	older := submit(t, client, SubmitOptions{})
	send(t, older, 0, 3)
	flush(t, older, 3)
	younger := submit(t, client, SubmitOptions{})
	equal(t, younger.NextOffset(), 3)
	fake.wire.cut()
	send(t, older, 3, 6)
	_, err := older.Flush(testContext(t))
	equal(t, isKind(t, err, ErrSuperseded).Reason, "EPOCH_STALE")
	equal(t, errors.Is(err, ErrConflict), true)
	send(t, younger, 3, 9)
	flush(t, younger, 9)
	fake.expectStored(t, 9)
}

// A program that starts again with replay sends exactly what is not durable.
func TestReplayGoesOn(t *testing.T) {
	fake, client := serveSubmissions(t)
	died := submit(t, client, SubmitOptions{})
	send(t, died, 0, 7)
	flush(t, died, 7)
	must(t, died.Close())
	again := submit(t, client, SubmitOptions{Replay: true})
	equal(t, again.NextOffset(), 7)
	send(t, again, 0, 12)
	flush(t, again, 12)
	fake.expectStored(t, 12)
	equal(t, fake.creations, 1)
}

// A full queue refuses at once, after the time to wait, or when the caller's context is done; the
// stream goes on.
func TestFullQueueHoldsTheCallerBack(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.hold = make(chan struct{})
	hold := fake.hold
	batching := Batching{BatchFrames: 1, QueueFrames: 2, Policy: Refuse}
	delivery := Delivery{WindowFrames: 1, Retry: quick.Retry}
	stream := submit(t, client, SubmitOptions{Batching: batching, Delivery: delivery})
	sent := 0
	waitUntil(t, "a full queue", func() bool {
		if stream.Send(testContext(t), box(sent)) == nil {
			sent++
		}
		return sent == 3 // one in the window, two in the queue
	})
	isKind(t, stream.Send(testContext(t), box(sent)), ErrBackPressure)
	blocking := func(timeout time.Duration) {
		stream.sender.guard.Lock()
		defer stream.sender.guard.Unlock()
		stream.sender.state.outbox.batching.Policy = Block
		stream.sender.state.outbox.batching.BlockTimeout = timeout
	}
	blocking(time.Millisecond)
	isKind(t, stream.Send(testContext(t), box(sent)), ErrBackPressure)
	blocking(Unlimited)
	done, cancel := context.WithTimeout(testContext(t), time.Millisecond)
	defer cancel()
	err := stream.Send(done, box(sent))
	isKind(t, err, ErrDeadline)
	equal(t, errors.Is(err, context.DeadlineExceeded), true)
	_, err = stream.Flush(done)
	isKind(t, err, ErrDeadline)
	close(hold)
	flush(t, stream, int64(sent))
}

// A callback that fails ends the stream, with its error wrapped.
func TestACallbackMayFail(t *testing.T) {
	_, client := serveSubmissions(t)
	mistake := errors.New("mistake")
	failing := submit(t, client, SubmitOptions{Delivery: Delivery{OnAcknowledged: func(int64) error { return mistake }}})
	send(t, failing, 0, 3)
	waitUntil(t, "the failure", func() bool { return failing.Send(testContext(t), box(3)) != nil })
	err := failing.Send(testContext(t), box(4))
	isKind(t, err, ErrCallback)
	equal(t, errors.Is(err, mistake), true)
}

// A callback cannot wait for its own stream, but other goroutines can while it runs, and it may
// abort.
func TestACallbackCannotWaitForItsStream(t *testing.T) {
	fake, client := serveSubmissions(t)
	other := submit(t, client, SubmitOptions{Submission: "other"})
	var stream *SubmissionStream
	ready := make(chan struct{})
	refused := make(chan error, 5)
	stream = submit(t, client, SubmitOptions{Delivery: Delivery{OnAcknowledged: func(int64) error {
		<-ready
		ctx := testContext(t)
		_, flushing := stream.Flush(ctx)
		_, sealing := stream.Seal(ctx, AnyFrameCount)
		for _, err := range []error{flushing, sealing, stream.Close(), stream.Close()} {
			refused <- err
		}
		_, err := other.Flush(ctx)
		refused <- err
		return nil
	}}})
	send(t, stream, 0, 3)
	close(ready)
	flush(t, stream, 3)
	for range 4 {
		isKind(t, <-refused, ErrCallback)
	}
	must(t, <-refused)
	must(t, stream.Close())
	fake.expectStored(t, 3)

	aborted := make(chan struct{})
	var aborting *SubmissionStream
	begin := make(chan struct{})
	aborting = submit(t, client, SubmitOptions{Delivery: Delivery{OnAcknowledged: func(int64) error {
		<-begin
		aborting.Abort()
		close(aborted)
		return nil
	}}})
	send(t, aborting, 3, 4)
	close(begin)
	<-aborted
	must(t, client.Close())
}

// A stream ends with its context and with its client.
func TestStreamEndsWithContextAndClient(t *testing.T) {
	_, client := serveSubmissions(t)
	ctx, cancel := context.WithCancel(testContext(t))
	stream, err := client.Submit(ctx, "streets", SubmitOptions{Submission: "run"})
	must(t, err)
	cancel()
	waitUntil(t, "the end", func() bool { return errors.Is(stream.Send(testContext(t), box(0)), ErrCallCancelled) })
	stream.Abort()
	other := submit(t, client, SubmitOptions{})
	must(t, client.Close())
	isKind(t, other.Send(testContext(t), box(0)), ErrClosed)
	_, err = client.Submit(testContext(t), "streets", SubmitOptions{})
	isKind(t, err, ErrClosed)
}

// Closing a stream, or its client, delivers what was taken.
func TestClosingDelivers(t *testing.T) {
	fake, client := serveSubmissions(t)
	stream := submit(t, client, SubmitOptions{})
	send(t, stream, 0, 7)
	must(t, stream.Close())
	must(t, stream.Close())
	fake.expectStored(t, 7)
	isKind(t, stream.Send(testContext(t), box(7)), ErrClosed)
	other := submit(t, client, SubmitOptions{Replay: true})
	send(t, other, 0, 12)
	must(t, client.Close())
	fake.expectStored(t, 12)
	equal(t, other.UndeliveredFrames(), 0)
}

// Closing a client while a stream is being closed waits for its frames, too.
func TestClosingAtOnceDelivers(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.hold = make(chan struct{})
	stream := submit(t, client, SubmitOptions{})
	send(t, stream, 0, 7)
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { first <- stream.Close() }()
	waitUntil(t, "the first", func() bool {
		stream.sender.guard.Lock()
		defer stream.sender.guard.Unlock()
		return stream.sender.left
	})
	go func() { second <- client.Close() }()
	select {
	case <-second:
		t.Error("did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	close(fake.hold)
	must(t, <-first)
	must(t, <-second)
	fake.expectStored(t, 7)
}

// Closing reports the number of dropped frames; aborting reports nothing.
func TestClosingInVain(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.hold = make(chan struct{})
	defer close(fake.hold)
	delivery := Delivery{CloseTimeout: 20 * time.Millisecond, Retry: quick.Retry}
	stream := submit(t, client, SubmitOptions{Delivery: delivery})
	send(t, stream, 0, 7)
	failure := isKind(t, stream.Close(), ErrDeadline)
	equal(t, failure.Error(), "7 frames dropped: not durable within 20ms")
	equal(t, stream.UndeliveredFrames(), 7)
	must(t, stream.Close()) // the error was reported already
	_, err := stream.Seal(testContext(t), 7)
	isKind(t, err, ErrDeadline)
	left := submit(t, client, SubmitOptions{})
	send(t, left, 0, 7)
	left.Abort()
	must(t, left.Close())
	equal(t, left.UndeliveredFrames(), 7)
}

// A submission that another process creates in the meantime is used; another team's is not.
func TestSubmissionIsFoundOrCreated(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.creation = refusal(codes.AlreadyExists, nameTaken, nil)
	_, err := client.Submit(testContext(t), "streets", SubmitOptions{Submission: "run"})
	equal(t, isKind(t, err, ErrConflict).Reason, nameTaken)
	fake.creation = refusal(codes.ResourceExhausted, "QUOTA_EXCEEDED", nil)
	_, err = client.Submit(testContext(t), "streets", SubmitOptions{Submission: "run"})
	isKind(t, err, ErrQuotaExceeded)
	equal(t, errors.Is(err, ErrLimitExceeded), true)
	_, err = client.Submit(testContext(t), "a/b", SubmitOptions{})
	isKind(t, err, ErrInput)
}

// A benchmark whose shape of detections is not known yet takes none.
func TestUnknownShapeIsAConflict(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.geometry = vidscorev1.Geometry_GEOMETRY_UNSPECIFIED
	_, err := client.Submit(testContext(t), "streets", SubmitOptions{Submission: "run"})
	equal(t, isKind(t, err, ErrConflict).Reason, "BENCHMARK_NOT_OPEN")
	equal(t, fake.creations, 0)
}

// A seal without an answer is retried; a different frame count is reported.
func TestSealing(t *testing.T) {
	fake, client := serveSubmissions(t)
	fake.state = vidscorev1.SubmissionState_SUBMISSION_STATE_OPEN
	fake.sealings = []fault{refusing(codes.Unavailable, "")}
	_, err := client.SealSubmission(testContext(t), "streets/run", 5)
	equal(t, isKind(t, err, ErrConflict).Reason, "FRAME_COUNT_DIFFERS")
	submission, err := client.SealSubmission(testContext(t), "streets/run", AnyFrameCount)
	must(t, err)
	equal(t, submission.State, StateSealed)
}

// A watch continues from its revision, over broken connections, until the submission has ended.
func TestWatchGoesOn(t *testing.T) {
	fake, client := serveSubmissions(t)
	at := func(revision int64, state vidscorev1.SubmissionState) *vidscorev1.WatchSubmissionResponse {
		return &vidscorev1.WatchSubmissionResponse{Submission: &vidscorev1.Submission{
			Name: submissionRun, Revision: revision, State: state,
		}}
	}
	fake.watchScript = []*vidscorev1.WatchSubmissionResponse{
		at(3, vidscorev1.SubmissionState_SUBMISSION_STATE_OPEN), nil,
		at(4, vidscorev1.SubmissionState_SUBMISSION_STATE_SEALED), nil, nil,
		at(9, vidscorev1.SubmissionState_SUBMISSION_STATE_SCORED),
	}
	var states []SubmissionState
	for update, err := range client.WatchSubmission(testContext(t), "streets/run") {
		must(t, err)
		states = append(states, update.Submission.State)
	}
	if !slices.Equal(states, []SubmissionState{StateOpen, StateSealed, StateScored}) {
		t.Errorf("saw %v", states)
	}
	if last := fake.revisions[len(fake.revisions)-1]; last != 4 {
		t.Errorf("asked from revision %d last", last)
	}
	done, cancel := context.WithTimeout(testContext(t), 20*time.Millisecond)
	defer cancel()
	_, err := client.WaitSubmission(done, "streets/run")
	isKind(t, err, ErrDeadline)
}

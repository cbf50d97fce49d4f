package vidscore

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// openedStream is an append stream that was opened for this writer.
type openedStream struct {
	submission *Submission
	info       StreamInfo
	arity      int
	limits     map[string]int64 // for its messages, as far as the server states them
}

// request is the message of a batch; the same batch always gives the same message.
func (opened *openedStream) request(sent sentBatch) *vidscorev1.AppendRequest {
	detections := encodeItems(sent.items, opened.arity)
	return &vidscorev1.AppendRequest{
		Stream:          opened.submission.Name + "/streams/" + opened.info.Stream,
		Epoch:           opened.info.Epoch,
		Offset:          sent.offset,
		Detections:      detections,
		DetectionsCrc32: checksum(detections),
	}
}

// sender delivers the frames of an append stream on its own goroutines: it connects, sends, and
// continues after breaks.
type sender struct {
	client   *Client
	opened   *openedStream
	delivery Delivery
	context  context.Context // done when the stream has ended
	cancel   context.CancelFunc
	work     sync.WaitGroup

	guard   *monitor // guards the rest
	state   *appendState
	left    bool    // whether this client has closed or aborted it
	telling running // OnAcknowledged
	told    int64   // the last number passed to OnAcknowledged
}

func (sender *sender) start() {
	sender.work.Add(1)
	go sender.run()
}

// put queues frames; if the queue is full, it does what the policy says.
func (sender *sender) put(ctx context.Context, frames []Frame, alone bool) error {
	items, err := newItems(frames, sender.opened.arity)
	if err != nil || len(items) == 0 {
		return err
	}
	sender.guard.Lock()
	defer sender.guard.Unlock()
	var dueBefore time.Time
	var waitedBefore, idleBefore bool
	wanted := room{
		guard:    sender.guard,
		batching: sender.state.outbox.batching,
		admit: func() (bool, error) {
			// The sender may have gone to sleep while the caller waited.
			dueBefore, waitedBefore = sender.state.due()
			idleBefore = sender.state.idle()
			return sender.state.admit(items, alone, time.Now())
		},
		refusal: sender.state.refusal,
	}
	if err := wanted.await(ctx); err != nil {
		return err
	}
	// The sender sleeps until something is due; only an earlier time concerns it.
	due, waits := sender.state.due()
	if idleBefore || waits != waitedBefore || !due.Equal(dueBefore) {
		sender.guard.notify()
	}
	return nil
}

// flush waits until all frames are durable and OnAcknowledged was called with them.
func (sender *sender) flush(ctx context.Context) (int64, error) {
	if err := sender.refuseInCallback(); err != nil {
		return 0, err
	}
	sender.guard.Lock()
	defer sender.guard.Unlock()
	sender.state.outbox.flush()
	sender.guard.notify()
	for !sender.isDrained() {
		if ctx.Err() != nil {
			return sender.state.acknowledged, contextError(ctx.Err(), "not every frame was durable")
		}
		sender.guard.wait(ctx)
	}
	if sender.state.idle() {
		return sender.state.acknowledged, nil
	}
	return sender.state.acknowledged, sender.state.check()
}

// refuseInCallback is the error of a call in OnAcknowledged that would wait for itself.
func (sender *sender) refuseInCallback() error {
	sender.guard.Lock()
	defer sender.guard.Unlock()
	return sender.telling.refuse("Flush, Close and Seal", "OnAcknowledged")
}

func (sender *sender) isTold() bool {
	return sender.delivery.OnAcknowledged == nil || sender.told == sender.state.acknowledged
}

// close delivers the accepted frames within a time, and ends the stream. It does nothing if this
// client has ended the stream.
func (sender *sender) close() error {
	sender.guard.Lock()
	if sender.left && sender.state.ended {
		sender.guard.Unlock()
		return nil
	}
	sender.left = true
	sender.state.close()
	sender.guard.notify()
	limit := time.Now().Add(sender.delivery.CloseTimeout)
	for !sender.isDrained() && time.Now().Before(limit) {
		sender.guard.waitUntil(context.Background(), limit, true)
	}
	if frames := sender.state.undelivered(); frames > 0 {
		sender.state.end(notDelivered(frames, sender.delivery.CloseTimeout))
	}
	err := sender.state.err
	if sender.state.undelivered() == 0 {
		err = nil // no frame was lost by its failure
	}
	sender.guard.Unlock()
	sender.leave()
	if err != nil {
		return err
	}
	return nil
}

// abort ends the stream at once and drops the frames that are not durable.
func (sender *sender) abort() {
	sender.guard.Lock()
	sender.left = true
	sender.state.end(closedError("the stream was aborted"))
	sender.guard.Unlock()
	sender.leave()
}

// leave ends the stream and waits for its goroutines, unless a callback is running.
func (sender *sender) leave() {
	sender.end(nil)
	sender.guard.Lock()
	telling := sender.telling != ""
	sender.guard.Unlock()
	if !telling {
		sender.work.Wait()
	}
}

// isDrained reports whether all frames are durable and OnAcknowledged was called with them, or the
// stream has ended. The caller holds the lock.
func (sender *sender) isDrained() bool {
	return sender.state.ended || (sender.state.idle() && sender.isTold())
}

// end records the end of delivery and its cause; the first cause counts.
func (sender *sender) end(failure *Error) {
	sender.guard.Lock()
	sender.state.end(failure)
	sender.guard.notify()
	sender.guard.Unlock()
	sender.cancel()
}

// run is the goroutine that delivers, until the stream has ended.
func (sender *sender) run() {
	defer sender.work.Done()
	for sender.awaitWork() {
		failure := sender.deliver()
		if failure == nil {
			continue
		}
		if err := sender.pause(failure); err != nil {
			sender.end(asError(err, ErrInternal))
		}
	}
	if err := sender.context.Err(); err != nil {
		sender.end(endedByContext(err))
	}
	sender.cancel()
}

// awaitWork waits until there is something to deliver; false if the stream has ended.
func (sender *sender) awaitWork() bool {
	sender.guard.Lock()
	defer sender.guard.Unlock()
	for sender.state.idle() && !sender.over() {
		sender.guard.wait(sender.context)
	}
	return !sender.over()
}

// over reports whether nothing more is delivered. The caller holds the lock.
func (sender *sender) over() bool { return sender.state.ended || sender.context.Err() != nil }

// pause waits after a break, or returns why a retry is useless.
func (sender *sender) pause(failure *Error) error {
	sender.guard.Lock()
	delay, err := sender.state.delay(failure, time.Now())
	sender.guard.Unlock()
	if err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-sender.context.Done():
	}
	return nil
}

// deliver delivers until a break or the end of the stream.
func (sender *sender) deliver() *Error {
	sender.guard.Lock()
	broken := sender.state.broken
	sender.guard.Unlock()
	if broken {
		if failure := sender.resume(); failure != nil {
			return failure
		}
	}
	if sender.delivery.Unary {
		return sender.deliverOneByOne()
	}
	return sender.deliverOverCall()
}

// resume asks the server from which offset to continue.
func (sender *sender) resume() *Error {
	submission, err := sender.client.GetSubmission(sender.context, sender.opened.submission.Name)
	if err != nil {
		return asError(err, ErrInternal)
	}
	sender.guard.Lock()
	grown, err := sender.state.resume(submission.Stream(sender.opened.info.Stream), time.Now())
	sender.guard.notify()
	sender.guard.Unlock()
	if err != nil {
		return asError(err, ErrInternal)
	}
	return sender.tell(grown)
}

func (sender *sender) deliverOneByOne() *Error {
	for {
		sent := sender.nextBatch(sender.context)
		if len(sent.items) == 0 {
			return nil
		}
		request := sender.opened.request(sent)
		response, err := unary(sender.context, sender.client, sender.client.submissions.AppendBatch, request)
		if err != nil {
			return asError(err, ErrInternal)
		}
		if failure := sender.acknowledge(response.GetNextOffset()); failure != nil {
			return failure
		}
	}
}

// deliverOverCall makes one call; its sender and its watchdog have ended when it returns.
func (sender *sender) deliverOverCall() *Error {
	ctx, cancel := context.WithCancelCause(sender.context)
	defer sender.disconnect()
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel(nil)
	call, err := sender.client.submissions.AppendFrames(ctx)
	if err != nil {
		return fromCall(err, ctx)
	}
	helpers.Add(2)
	go func() { defer helpers.Done(); sender.send(ctx, call) }()
	go func() { defer helpers.Done(); sender.watchSilence(ctx, cancel) }()
	for {
		response, err := call.Recv()
		if err != nil {
			return sender.breakOf(ctx, err)
		}
		if failure := sender.acknowledge(response.GetNextOffset()); failure != nil {
			return failure
		}
	}
}

// breakOf is the cause of a call's end.
func (sender *sender) breakOf(ctx context.Context, err error) *Error {
	var failure *Error
	if errors.As(context.Cause(ctx), &failure) {
		return failure // of this client's own
	}
	if errors.Is(err, io.EOF) {
		return endedEarly()
	}
	return fromCall(err, ctx)
}

// send is the goroutine that sends over a call. It ignores errors of sending, because the receiver
// gets their cause.
func (sender *sender) send(ctx context.Context, call vidscorev1.SubmissionService_AppendFramesClient) {
	for {
		sent := sender.nextBatch(ctx)
		if len(sent.items) == 0 {
			return
		}
		err := call.Send(sender.opened.request(sent))
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			sender.end(fromStatus(err)) // the message cannot be sent, because of a bug in this package
			return
		}
	}
}

// watchSilence is the goroutine that ends a call without acknowledgements.
func (sender *sender) watchSilence(ctx context.Context, cancel context.CancelCauseFunc) {
	sender.guard.Lock()
	defer sender.guard.Unlock()
	for ctx.Err() == nil {
		stalledAt, sent := sender.state.stalledAt()
		if sent && !time.Now().Before(stalledAt) {
			cancel(unavailableError("the server has acknowledged nothing for " + sender.delivery.AcknowledgeTimeout.String()))
			return
		}
		sender.guard.waitUntil(ctx, stalledAt, sent)
	}
}

// nextBatch waits for the next due batch; it is empty if the call or the stream is over.
func (sender *sender) nextBatch(ctx context.Context) sentBatch {
	sender.guard.Lock()
	defer sender.guard.Unlock()
	for ctx.Err() == nil && !sender.state.ended {
		if sent := sender.state.take(time.Now()); len(sent.items) > 0 {
			sender.guard.notify()
			return sent
		}
		due, waits := sender.state.due()
		sender.guard.waitUntil(ctx, due, waits)
	}
	return sentBatch{}
}

func (sender *sender) acknowledge(nextOffset int64) *Error {
	sender.guard.Lock()
	grown, err := sender.state.acknowledge(nextOffset, time.Now())
	sender.guard.notify()
	sender.guard.Unlock()
	if err != nil {
		return asError(err, ErrInternal)
	}
	return sender.tell(grown)
}

// tell calls OnAcknowledged if more frames are durable than before.
func (sender *sender) tell(grown bool) *Error {
	if !grown || sender.delivery.OnAcknowledged == nil {
		return nil
	}
	sender.guard.Lock()
	acknowledged, ended := sender.state.acknowledged, sender.state.ended
	if !ended {
		sender.telling.begin()
	}
	sender.guard.Unlock()
	if ended {
		return nil
	}
	err := sender.delivery.OnAcknowledged(acknowledged)
	sender.guard.Lock()
	sender.telling.end()
	sender.told = acknowledged
	sender.guard.notify()
	sender.guard.Unlock()
	if err != nil {
		return callbackError("OnAcknowledged", err)
	}
	return nil
}

func (sender *sender) disconnect() {
	sender.guard.Lock()
	defer sender.guard.Unlock()
	sender.state.disconnect()
}

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
}

// request is what is sent for a batch; the same batch is the same message each time.
func (opened *openedStream) request(sent sentBatch) *vidscorev1.Append {
	detections := encodeItems(sent.items, opened.arity)
	return &vidscorev1.Append{
		Stream:          opened.submission.Name + "/streams/" + opened.info.Stream,
		Epoch:           opened.info.Epoch,
		Offset:          sent.offset,
		Detections:      detections,
		DetectionsCrc32: checksum(detections),
	}
}

// courier delivers the frames of an append stream on goroutines of its own: connects, sends, and
// goes on after breaks.
type courier struct {
	client   *Client
	opened   *openedStream
	delivery Delivery
	context  context.Context // done when the stream has ended
	cancel   context.CancelFunc
	work     sync.WaitGroup

	guard   *monitor // guards the rest
	state   *appendState
	left    bool  // whether this side has closed or detached it
	telling bool  // whether OnAcknowledged is running
	told    int64 // what OnAcknowledged was told last
}

func (courier *courier) start() {
	courier.work.Add(1)
	go courier.run()
}

// put queues frames, as the policy says where the queue is full.
func (courier *courier) put(ctx context.Context, frames []Frame, alone bool) error {
	items, err := newItems(frames, courier.opened.arity)
	if err != nil || len(items) == 0 {
		return err
	}
	courier.guard.Lock()
	defer courier.guard.Unlock()
	var dueBefore time.Time
	var waitedBefore, idleBefore bool
	wanted := room{
		guard:    courier.guard,
		batching: courier.state.outbox.batching,
		admit: func() (bool, error) {
			// The sender may have gone to sleep while the caller waited.
			dueBefore, waitedBefore = courier.state.due()
			idleBefore = courier.state.idle()
			return courier.state.admit(items, alone, time.Now())
		},
		refusal: courier.state.refusal,
	}
	if err := wanted.await(ctx); err != nil {
		return err
	}
	// The sender sleeps until something is due; only an earlier time concerns it.
	due, waits := courier.state.due()
	if idleBefore || waits != waitedBefore || !due.Equal(dueBefore) {
		courier.guard.notify()
	}
	return nil
}

// flush waits until every frame is durable and OnAcknowledged has been told.
func (courier *courier) flush(ctx context.Context) (int64, error) {
	courier.guard.Lock()
	defer courier.guard.Unlock()
	courier.state.outbox.flush()
	courier.guard.notify()
	for !courier.isSettled() {
		if ctx.Err() != nil {
			return courier.state.acknowledged, contextError(ctx.Err(), "not every frame was durable")
		}
		courier.guard.wait(ctx)
	}
	if courier.state.idle() {
		return courier.state.acknowledged, nil
	}
	return courier.state.acknowledged, courier.state.check()
}

func (courier *courier) isTold() bool {
	return courier.delivery.OnAcknowledged == nil || courier.told == courier.state.acknowledged
}

// close delivers what was taken, in a time, and ends the stream. Where this side has ended it, close
// does nothing.
func (courier *courier) close() error {
	courier.guard.Lock()
	if courier.left {
		courier.guard.Unlock()
		return nil
	}
	courier.left = true
	courier.state.close()
	courier.guard.notify()
	limit := time.Now().Add(courier.delivery.CloseTimeout)
	// A callback that closes its stream would wait for itself.
	for !courier.isSettled() && !(courier.telling && courier.state.idle()) && time.Now().Before(limit) {
		courier.guard.waitUntil(context.Background(), limit, true)
	}
	if frames := courier.state.undelivered(); frames > 0 {
		courier.state.end(notDelivered(frames, courier.delivery.CloseTimeout))
	}
	err := courier.state.err
	if courier.state.undelivered() == 0 {
		err = nil // what it failed with has cost nothing
	}
	courier.guard.Unlock()
	courier.leave()
	if err != nil {
		return err
	}
	return nil
}

// detach ends the stream at once; what is not durable is given up.
func (courier *courier) detach() {
	courier.guard.Lock()
	courier.left = true
	courier.state.end(closedError("the stream was ended by this side"))
	courier.guard.Unlock()
	courier.leave()
}

// leave ends the stream and waits for its goroutines, unless a callback is running.
func (courier *courier) leave() {
	courier.end(nil)
	courier.guard.Lock()
	telling := courier.telling
	courier.guard.Unlock()
	if !telling {
		courier.work.Wait()
	}
}

// isSettled tells whether every frame is durable and OnAcknowledged was told, or the stream has
// ended. The lock is held.
func (courier *courier) isSettled() bool {
	return courier.state.ended || (courier.state.idle() && courier.isTold())
}

// end notes that nothing more is delivered, and why; the first one to say so is right.
func (courier *courier) end(failure *Error) {
	courier.guard.Lock()
	courier.state.end(failure)
	courier.guard.notify()
	courier.guard.Unlock()
	courier.cancel()
}

// run is the goroutine that delivers, until the stream has ended.
func (courier *courier) run() {
	defer courier.work.Done()
	for courier.awaitWork() {
		failure := courier.deliver()
		if failure == nil {
			continue
		}
		if err := courier.pause(failure); err != nil {
			courier.end(asError(err, ErrInternal))
		}
	}
	if err := courier.context.Err(); err != nil {
		courier.end(endedByContext(err))
	}
	courier.cancel()
}

// awaitWork waits until there is something to deliver; false where the stream has ended.
func (courier *courier) awaitWork() bool {
	courier.guard.Lock()
	defer courier.guard.Unlock()
	for courier.state.idle() && !courier.over() {
		courier.guard.wait(courier.context)
	}
	return !courier.over()
}

// over tells whether nothing more is delivered. The lock is held.
func (courier *courier) over() bool { return courier.state.ended || courier.context.Err() != nil }

// pause waits after a break, or returns why there is no going on.
func (courier *courier) pause(failure *Error) error {
	courier.guard.Lock()
	delay, err := courier.state.delay(failure, time.Now())
	courier.guard.Unlock()
	if err != nil {
		return err
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-courier.context.Done():
	}
	return nil
}

// deliver delivers until something breaks or the stream has ended.
func (courier *courier) deliver() *Error {
	courier.guard.Lock()
	broken := courier.state.broken
	courier.guard.Unlock()
	if broken {
		if failure := courier.resume(); failure != nil {
			return failure
		}
	}
	if courier.delivery.Unary {
		return courier.deliverOneByOne()
	}
	return courier.deliverOverCall()
}

// resume asks the server where to go on.
func (courier *courier) resume() *Error {
	submission, err := courier.client.GetSubmission(courier.context, courier.opened.submission.Name)
	if err != nil {
		return asError(err, ErrInternal)
	}
	courier.guard.Lock()
	grown, err := courier.state.resume(submission.Stream(courier.opened.info.Stream), time.Now())
	courier.guard.notify()
	courier.guard.Unlock()
	if err != nil {
		return asError(err, ErrInternal)
	}
	return courier.tell(grown)
}

func (courier *courier) deliverOneByOne() *Error {
	for {
		sent := courier.nextBatch(courier.context)
		if len(sent.items) == 0 {
			return nil
		}
		request := &vidscorev1.AppendBatchRequest{Append: courier.opened.request(sent)}
		response, err := unary(courier.context, courier.client, courier.client.submissions.AppendBatch, request)
		if err != nil {
			return asError(err, ErrInternal)
		}
		if failure := courier.acknowledge(response.GetNextOffset()); failure != nil {
			return failure
		}
	}
}

// deliverOverCall makes one call; its sender and its watchdog have ended when it returns.
func (courier *courier) deliverOverCall() *Error {
	ctx, cancel := context.WithCancelCause(courier.context)
	defer courier.disconnect()
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer cancel(nil)
	call, err := courier.client.submissions.AppendFrames(ctx)
	if err != nil {
		return fromStatus(err)
	}
	helpers.Add(2)
	go func() { defer helpers.Done(); courier.send(ctx, call) }()
	go func() { defer helpers.Done(); courier.watchSilence(ctx, cancel) }()
	for {
		response, err := call.Recv()
		if err != nil {
			return courier.breakOf(ctx, err)
		}
		if failure := courier.acknowledge(response.GetNextOffset()); failure != nil {
			return failure
		}
	}
}

// breakOf is why a call ended.
func (courier *courier) breakOf(ctx context.Context, err error) *Error {
	var failure *Error
	if errors.As(context.Cause(ctx), &failure) {
		return failure // of this side's own
	}
	if errors.Is(err, io.EOF) {
		return endedEarly()
	}
	return fromStatus(err)
}

// send is the goroutine that sends over a call. A send that fails says nothing: the receiver is told
// why.
func (courier *courier) send(ctx context.Context, call vidscorev1.SubmissionService_AppendFramesClient) {
	for {
		sent := courier.nextBatch(ctx)
		if len(sent.items) == 0 {
			return
		}
		err := call.Send(&vidscorev1.AppendFramesRequest{Append: courier.opened.request(sent)})
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			courier.end(fromStatus(err)) // a message that cannot be sent, by a mistake of this package's
			return
		}
	}
}

// watchSilence is the goroutine that ends a call over which no acknowledgement comes.
func (courier *courier) watchSilence(ctx context.Context, cancel context.CancelCauseFunc) {
	courier.guard.Lock()
	defer courier.guard.Unlock()
	for ctx.Err() == nil {
		stalledAt, sent := courier.state.stalledAt()
		if sent && !time.Now().Before(stalledAt) {
			cancel(unavailableError("the server has acknowledged nothing for " + courier.delivery.AcknowledgeTimeout.String()))
			return
		}
		courier.guard.waitUntil(ctx, stalledAt, sent)
	}
}

// nextBatch waits for the next batch that is due; it is empty where the call or the stream is over.
func (courier *courier) nextBatch(ctx context.Context) sentBatch {
	courier.guard.Lock()
	defer courier.guard.Unlock()
	for ctx.Err() == nil && !courier.state.ended {
		if sent := courier.state.take(time.Now()); len(sent.items) > 0 {
			courier.guard.notify()
			return sent
		}
		due, waits := courier.state.due()
		courier.guard.waitUntil(ctx, due, waits)
	}
	return sentBatch{}
}

func (courier *courier) acknowledge(nextOffset int64) *Error {
	courier.guard.Lock()
	grown, err := courier.state.acknowledge(nextOffset, time.Now())
	courier.guard.notify()
	courier.guard.Unlock()
	if err != nil {
		return asError(err, ErrInternal)
	}
	return courier.tell(grown)
}

// tell calls OnAcknowledged where more frames are durable than before.
func (courier *courier) tell(grown bool) *Error {
	if !grown || courier.delivery.OnAcknowledged == nil {
		return nil
	}
	courier.guard.Lock()
	acknowledged := courier.state.acknowledged
	courier.telling = !courier.state.ended
	telling := courier.telling
	courier.guard.Unlock()
	if !telling {
		return nil
	}
	err := courier.delivery.OnAcknowledged(acknowledged)
	courier.guard.Lock()
	courier.telling, courier.told = false, acknowledged
	courier.guard.notify()
	courier.guard.Unlock()
	if err != nil {
		return callbackError("OnAcknowledged", err)
	}
	return nil
}

func (courier *courier) disconnect() {
	courier.guard.Lock()
	defer courier.guard.Unlock()
	courier.state.disconnect()
}

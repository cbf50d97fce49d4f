package vidscore

import (
	"fmt"
	"slices"
	"time"
)

// sentBatch is a batch of frames, and the offset of its first frame in the stream.
type sentBatch struct {
	offset int64
	items  []item
}

// end is the offset of the frame after the last one.
func (sent sentBatch) end() int64 { return sent.offset + int64(len(sent.items)) }

// appendState is the state of an append stream, without any I/O.
//
// Frames go from the outbox into the window when they are sent, and stay there until the server has
// acknowledged them. After a break the window is sent again from the server's next offset on, under
// the epoch of the first opening: an older writer that returns never excludes a newer one.
type appendState struct {
	acknowledged int64
	broken       bool // whether to ask the server first what is durable
	closing      bool // whether no more frames are accepted
	ended        bool
	err          *Error
	outbox       *outbox

	opened       StreamInfo
	delivery     Delivery
	retrying     *retrying
	toSkip       int64 // frames that the caller sends again although they are durable
	window       []sentBatch
	windowFrames int
	windowBytes  int
	tooLarge     bool  // whether the server accepts smaller batches than those of the window
	sent         int   // batches of the window that were sent over the present connection
	taken        int64 // offset after the last frame that entered the window
	quietSince   time.Time
}

func newAppendState(opened StreamInfo, batching Batching, delivery Delivery, replay bool) *appendState {
	state := &appendState{
		acknowledged: opened.NextOffset,
		outbox:       newOutbox(batching),
		opened:       opened,
		delivery:     delivery,
		retrying:     newRetrying(delivery.Retry),
		taken:        opened.NextOffset,
	}
	if replay {
		state.toSkip = opened.NextOffset
	}
	return state
}

// idle reports whether there is nothing to deliver, so that no connection is needed.
func (state *appendState) idle() bool { return len(state.window) == 0 && state.outbox.frames == 0 }

// undelivered is the number of accepted frames that are not known to be durable.
func (state *appendState) undelivered() int { return state.windowFrames + state.outbox.frames }

// close accepts no more frames, and makes all frames due now.
func (state *appendState) close() {
	state.closing = true
	state.outbox.flush()
}

// stalledAt is the time at which the connection counts as broken; false if no answer is due.
func (state *appendState) stalledAt() (time.Time, bool) {
	return state.quietSince.Add(state.delivery.AcknowledgeTimeout), state.sent > 0
}

// due is the time at which take has a batch; false if nothing waits or the window is full.
func (state *appendState) due() (time.Time, bool) {
	if state.sent < len(state.window) {
		return time.Time{}, true
	}
	if !state.hasRoom() {
		return time.Time{}, false
	}
	return state.outbox.due()
}

// admit accepts frames if there is room. It reports whether it did, or they are durable already. A
// frame that comes alone may wait for others.
func (state *appendState) admit(items []item, alone bool, now time.Time) (bool, error) {
	if err := state.check(); err != nil {
		return false, err
	}
	count := int64(len(items))
	if count <= state.toSkip {
		state.toSkip -= count
		return true, nil
	}
	rest := items[state.toSkip:]
	admitted := false
	if alone {
		admitted = state.outbox.offer(Detections, rest[0], now)
	} else {
		admitted = state.outbox.offerAll(Detections, rest)
	}
	if admitted {
		state.toSkip = 0
	}
	return admitted, nil
}

// refusal is the error for frames that were not accepted.
func (state *appendState) refusal(waited time.Duration) *Error {
	message := fmt.Sprintf(
		"the queue was full%s: %s to be sent and %d to be acknowledged, "+
			"QueueFrames is %d, WindowFrames is %d",
		waitedFor(waited), counted(state.outbox.frames, "frame"), state.windowFrames,
		state.outbox.batching.QueueFrames, state.delivery.WindowFrames,
	)
	return &Error{Kind: ErrBackPressure, Message: message, Reason: "BACK_PRESSURE"}
}

// take is the next batch to send; empty if none is due or the window is full.
func (state *appendState) take(now time.Time) sentBatch {
	if state.ended || (state.sent == len(state.window) && !state.fill(now)) {
		return sentBatch{}
	}
	if state.sent == 0 {
		state.quietSince = now
	}
	state.sent++
	return state.window[state.sent-1]
}

// acknowledge drops the frames before an offset, which are durable. It reports whether any of them
// were not known to be.
func (state *appendState) acknowledge(nextOffset int64, now time.Time) (bool, error) {
	if nextOffset > state.taken {
		return false, internalError(fmt.Sprintf(
			"the server acknowledged %s, but only %d had been sent", counted(nextOffset, "frame"), state.taken))
	}
	state.quietSince = now
	if nextOffset <= state.acknowledged {
		return false, nil
	}
	state.retrying.progress()
	state.acknowledged = nextOffset
	for len(state.window) > 0 && state.window[0].end() <= nextOffset {
		state.release()
	}
	if len(state.window) > 0 && state.window[0].offset < nextOffset {
		state.cut(nextOffset)
	}
	return true, nil
}

// resume continues over a new connection from the server's state of the stream, nil if it has none.
// It reports whether more frames are durable than before.
func (state *appendState) resume(known *StreamInfo, now time.Time) (bool, error) {
	if known == nil {
		known = &StreamInfo{Stream: state.opened.Stream, Epoch: state.opened.Epoch}
	}
	if known.Epoch != state.opened.Epoch {
		return false, &Error{
			Kind: ErrSuperseded,
			Message: fmt.Sprintf(
				"another writer has opened stream %q with epoch %d; this writer has epoch %d and must stop",
				known.Stream, known.Epoch, state.opened.Epoch),
			Code: "ABORTED", Reason: "EPOCH_STALE",
		}
	}
	if known.NextOffset < state.acknowledged {
		return false, &Error{
			Kind: ErrConflict,
			Message: fmt.Sprintf(
				"the server has %s of the stream but had acknowledged %d: it has lost frames",
				counted(known.NextOffset, "frame"), state.acknowledged),
			Reason: "STREAM_SET_BACK",
		}
	}
	grown, err := state.acknowledge(known.NextOffset, now)
	state.sent = 0
	state.broken = err != nil
	if state.tooLarge && err == nil {
		state.putBack()
	}
	return grown, err
}

// disconnect records that the connection is gone.
func (state *appendState) disconnect() { state.sent = 0 }

// delay records a break and returns the wait before the next try, or the failure if a retry is
// useless.
func (state *appendState) delay(failure *Error, now time.Time) (time.Duration, error) {
	state.broken = true
	state.sent = 0
	if state.idle() && isBreak(failure) {
		return 0, nil // without frames, there is nothing to retry
	}
	largest := 0
	for _, sent := range state.window {
		largest = max(largest, len(sent.items))
	}
	if state.outbox.cutSmaller(failure, largest) {
		state.tooLarge = true
		return state.retrying.again(failure, now)
	}
	return state.retrying.delay(failure, now)
}

// end records the end of delivery; the first reason counts.
func (state *appendState) end(failure *Error) {
	if !state.ended {
		state.ended = true
		state.err = failure
	}
}

// check is the failure of the stream, or that it has ended.
func (state *appendState) check() error {
	if state.err != nil {
		return state.err
	}
	if state.ended || state.closing {
		return closedError("the stream is closed and takes no more frames")
	}
	return nil
}

func (state *appendState) hasRoom() bool {
	return len(state.window) == 0 || (state.windowFrames < state.delivery.WindowFrames &&
		state.windowBytes < state.delivery.WindowBytes)
}

// fill moves the due batch, if any, into the window.
func (state *appendState) fill(now time.Time) bool {
	if !state.hasRoom() {
		return false
	}
	next := state.outbox.take(now)
	if len(next.items) == 0 {
		return false
	}
	state.window = append(state.window, sentBatch{state.taken, next.items})
	state.taken += int64(len(next.items))
	state.windowFrames += len(next.items)
	state.windowBytes += sizeOf(next.items)
	return true
}

func (state *appendState) release() {
	oldest := state.window[0]
	state.window[0] = sentBatch{} // so that its frames can be collected
	state.window = state.window[1:]
	state.windowFrames -= len(oldest.items)
	state.windowBytes -= sizeOf(oldest.items)
	state.sent = max(0, state.sent-1)
}

// putBack returns unacknowledged frames to the outbox, to be cut again.
func (state *appendState) putBack() {
	for _, sent := range slices.Backward(state.window) {
		state.taken = sent.offset
		state.outbox.putBack(Detections, sent.items)
	}
	state.window, state.windowFrames, state.windowBytes = nil, 0, 0
	state.tooLarge = false
}

// cut cuts the oldest batch to its part from an offset on.
func (state *appendState) cut(offset int64) {
	oldest := &state.window[0]
	count := int(offset - oldest.offset)
	state.windowFrames -= count
	state.windowBytes -= sizeOf(oldest.items[:count])
	*oldest = sentBatch{offset, oldest.items[count:]}
}

func waitedFor(waited time.Duration) string {
	if waited == 0 {
		return ""
	}
	return " for " + waited.String()
}

package vidscore

import (
	"fmt"
	"time"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// streamState is the state of a scoring stream, without any I/O.
type streamState struct {
	outbox  *outbox
	started *vidscorev1.ScoreStarted
	latest  *LiveReport
	ended   bool
	err     *Error

	batching Batching
	keep     int // live reports that wait for a reader
	unread   []*LiveReport
	final    []*Report
	finished bool // whether the final reports have arrived
	closing  bool
}

func newStreamState(batching Batching, live *Live) *streamState {
	state := &streamState{outbox: newOutbox(batching), batching: batching, keep: 1}
	if live != nil {
		state.keep = live.KeepReports
	}
	return state
}

// nothingToSend reports whether this side of the stream may be closed.
func (state *streamState) nothingToSend() bool {
	return state.ended || (state.closing && state.outbox.frames == 0)
}

// readable reports whether nextReport need not wait.
func (state *streamState) readable() bool { return len(state.unread) > 0 || state.ended }

// admit accepts frames if there is room; it reports whether it did.
func (state *streamState) admit(side Side, items []item, alone bool, now time.Time) (bool, error) {
	if state.err != nil {
		return false, state.err
	}
	if state.closing || state.ended {
		return false, closedError("the stream is finished and takes no more frames")
	}
	if alone {
		return state.outbox.offer(side, items[0], now), nil
	}
	return state.outbox.offerAll(side, items), nil
}

// refusal is the error for frames that were not accepted.
func (state *streamState) refusal(waited time.Duration) *Error {
	message := fmt.Sprintf(
		"the queue was full%s: %s to be sent, QueueFrames is %d, QueueBytes is %d",
		waitedFor(waited), counted(state.outbox.frames, "frame"), state.batching.QueueFrames, state.batching.QueueBytes,
	)
	return &Error{Kind: ErrBackPressure, Message: message, Reason: "BACK_PRESSURE"}
}

// take is the next batch to send; empty if none is due.
func (state *streamState) take(now time.Time) batch {
	if state.ended {
		return batch{}
	}
	return state.outbox.take(now)
}

// close accepts no more frames, and makes all frames due now.
func (state *streamState) close() {
	state.closing = true
	state.outbox.flush()
}

// receive records a response, and returns it if it is a live report.
func (state *streamState) receive(response *vidscorev1.ScoreResponse) (*LiveReport, *Error) {
	switch message := response.GetMessage().(type) {
	case *vidscorev1.ScoreResponse_Started:
		if err := checkServer(message.Started.GetServerVersion(), Version); err != nil {
			return nil, asError(err, ErrInternal)
		}
		state.started = message.Started
		state.outbox.keepTo(message.Started.GetLimits())
	case *vidscorev1.ScoreResponse_Live:
		state.latest = decodeLive(message.Live)
		state.unread = append(state.unread, state.latest)
		state.unread = state.unread[max(0, len(state.unread)-state.keep):]
		return state.latest, nil
	case *vidscorev1.ScoreResponse_Final:
		state.final = decodeReports(message.Final.GetReports())
		state.finished = true
	default:
		return nil, internalError("the server sent a message that this client does not know")
	}
	return nil, nil
}

// end records the end of the call; the first cause counts.
func (state *streamState) end(failure *Error) {
	if state.ended {
		return
	}
	state.ended = true
	if failure == nil && !state.finished {
		failure = internalError("the server ended the stream without a final report")
	}
	state.err = failure
}

// nextReport is the oldest unread live report; nil if the stream has ended and there is none.
func (state *streamState) nextReport() (*LiveReport, error) {
	if len(state.unread) > 0 {
		report := state.unread[0]
		state.unread = state.unread[1:]
		return report, nil
	}
	if state.err != nil {
		return nil, state.err
	}
	return nil, nil
}

// finalReports is the final reports of a stream that has ended.
func (state *streamState) finalReports() ([]*Report, error) {
	if state.err != nil {
		return nil, state.err
	}
	return state.final, nil
}

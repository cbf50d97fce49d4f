package vidscore

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var brokenCall = unavailableError("broken")

func newState(nextOffset int64, replay bool, delivery Delivery) *appendState {
	delivery, _ = delivery.checked()
	batching := Batching{BatchFrames: 3, QueueFrames: 1_000_000}.withDefaults()
	return newAppendState(StreamInfo{"default", 1, nextOffset}, batching, delivery, replay)
}

func admit(t *testing.T, state *appendState, frames []Frame) {
	t.Helper()
	admitted, err := state.admit(items(frames...), false, noon)
	must(t, err)
	equal(t, admitted, true)
}

// model is a server that stores whole batches by the offset protocol.
type model struct{ stored []int }

// take stores a batch unless it is stored already; it reports whether it is stored.
func (model *model) take(sent sentBatch) bool {
	numbers := numbersOf(sent.items)
	if int(sent.offset) == len(model.stored) {
		model.stored = append(model.stored, numbers...)
	}
	end := int(sent.end())
	return end <= len(model.stored) && slices.Equal(model.stored[sent.offset:end], numbers)
}

// Whatever breaks, every frame is stored once and in order: batches arrive or not, answers arrive
// or not; in the end everything is delivered.
func TestEveryFrameIsStoredOnceWhateverBreaks(t *testing.T) {
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		state, server := newState(0, false, Delivery{WindowFrames: 1 + random.IntN(20)}), &model{}
		offered := 0
		known := func() *StreamInfo { return &StreamInfo{"default", 1, int64(len(server.stored))} }
		breakAndResume := func() {
			_, err := state.delay(brokenCall, noon)
			must(t, err)
			_, err = state.resume(known(), noon)
			must(t, err)
		}
		send := func(arrives bool) bool {
			sent := state.take(noon)
			if len(sent.items) > 0 && arrives && !server.take(sent) {
				t.Fatalf("seed %d: the server refuses offset %d", seed, sent.offset)
			}
			return len(sent.items) > 0
		}
		for range 60 {
			switch random.IntN(5) {
			case 0:
				count := 1 + random.IntN(7)
				admit(t, state, boxes(offered, offered+count))
				offered += count
			case 1:
				send(true)
			case 2:
				if send(false) { // later batches would be refused until a break
					breakAndResume()
				}
			case 3:
				_, err := state.acknowledge(int64(len(server.stored)), noon)
				must(t, err)
			case 4:
				breakAndResume()
			}
		}
		breakAndResume()
		for send(true) || !state.idle() {
			_, err := state.acknowledge(int64(len(server.stored)), noon)
			must(t, err)
		}
		if !slices.Equal(server.stored, upTo(offered)) || state.acknowledged != int64(offered) {
			t.Fatalf("seed %d: stored %v of %d", seed, server.stored, offered)
		}
		equal(t, state.windowFrames+state.windowBytes, 0)
	}
}

// A batch of 3, of which 2 are stored, is sent from the third frame on.
func TestBatchOfWhichAPartIsDurable(t *testing.T) {
	state := newState(0, false, Delivery{})
	admit(t, state, boxes(0, 3))
	equal(t, len(state.take(noon).items), 3)
	_, err := state.delay(brokenCall, noon)
	must(t, err)
	_, err = state.resume(&StreamInfo{"default", 1, 2}, noon)
	must(t, err)
	rest := state.take(noon)
	equal(t, rest.offset, 2)
	if !slices.Equal(numbersOf(rest.items), []int{2}) {
		t.Errorf("sent %v", numbersOf(rest.items))
	}
}

func tooLarge(limit, maximum string) *Error {
	metadata := map[string]string{"limit": limit, "maximum": maximum}
	return &Error{
		Kind: ErrLimitExceeded, Code: "RESOURCE_EXHAUSTED", Reason: "LIMIT_EXCEEDED", Metadata: metadata,
	}
}

// A server that accepts smaller batches than it stated gets them: of 7 frames in batches of 3 it
// has the first 3, and accepts 2 at a time from now on.
func TestBatchesAreCutAnewForASmallerLimit(t *testing.T) {
	state := newState(0, false, Delivery{})
	admit(t, state, boxes(0, 7))
	for len(state.take(noon).items) > 0 {
	}
	delay, err := state.delay(tooLarge("maximum_batch_frames", "2"), noon)
	must(t, err)
	equal(t, delay, 0)
	_, err = state.resume(&StreamInfo{"default", 1, 3}, noon)
	must(t, err)
	equal(t, state.undelivered(), 4)
	for _, expected := range [][]int{{3, 4}, {5}, {6}} {
		sent := state.take(noon)
		equal(t, sent.offset, int64(expected[0]))
		if !slices.Equal(numbersOf(sent.items), expected) {
			t.Errorf("sent %v, expected %v", numbersOf(sent.items), expected)
		}
	}
	equal(t, len(state.take(noon).items), 0)
	equal(t, state.undelivered(), 4)
}

// A batch over a limit that counts no frames is halved, unless no cut helps.
func TestBatchOverAnotherLimitIsHalved(t *testing.T) {
	state := newState(0, false, Delivery{})
	admit(t, state, boxes(0, 5))
	for len(state.take(noon).items) > 0 {
	}
	_, err := state.delay(tooLarge("maximum_frame_objects", "4"), noon)
	isKind(t, err, ErrLimitExceeded)
	_, err = state.delay(tooLarge("maximum_batch_objects", "4"), noon)
	must(t, err)
	_, err = state.resume(&StreamInfo{"default", 1, 0}, noon)
	must(t, err)
	for number := range 5 {
		if sent := state.take(noon); !slices.Equal(numbersOf(sent.items), []int{number}) {
			t.Errorf("sent %v, expected frame %d", numbersOf(sent.items), number)
		}
	}
	_, err = state.delay(tooLarge("maximum_batch_objects", "4"), noon)
	isKind(t, err, ErrLimitExceeded)
}

// A batch that cannot be cut smaller ends the stream.
func TestBatchThatCannotBeCutSmaller(t *testing.T) {
	state := newState(0, false, Delivery{})
	admit(t, state, boxes(0, 3))
	for _, maximum := range []string{"2", "1"} {
		_, err := state.delay(tooLarge("maximum_batch_frames", maximum), noon)
		must(t, err)
	}
	_, err := state.delay(tooLarge("maximum_batch_frames", "1"), noon)
	isKind(t, err, ErrLimitExceeded)
}

// A replay leaves out exactly the frames that were durable at opening, singly or within a batch.
func TestReplayLeavesOutWhatIsDurable(t *testing.T) {
	state := newState(4, true, Delivery{})
	admitted, err := state.admit(items(box(0)), true, noon)
	must(t, err)
	equal(t, admitted, true)
	admit(t, state, boxes(1, 6))
	sent := state.take(noon)
	equal(t, sent.offset, 4)
	if !slices.Equal(numbersOf(sent.items), []int{4, 5}) {
		t.Errorf("sent %v", numbersOf(sent.items))
	}
}

// Frames that were never sent cannot be durable, and an old acknowledgement says nothing new.
func TestAcknowledgementsAreChecked(t *testing.T) {
	state := newState(5, false, Delivery{})
	_, err := state.acknowledge(6, noon)
	failure := isKind(t, err, ErrInternal)
	equal(t, failure.Error(), "the server acknowledged 6 frames, but only 5 had been sent")
	_, err = newState(0, false, Delivery{}).acknowledge(1, noon)
	equal(t, isKind(t, err, ErrInternal).Error(), "the server acknowledged 1 frame, but only 0 had been sent")
	grown, err := state.acknowledge(3, noon)
	must(t, err)
	equal(t, grown, false)
	equal(t, state.acknowledged, 5)
}

// A stream that was changed by others cannot be resumed.
func TestResumeRefusesAnotherStream(t *testing.T) {
	for kind, known := range map[Kind]*StreamInfo{
		ErrSuperseded: {"default", 2, 5},
		ErrConflict:   {"default", 1, 4},
	} {
		_, err := newState(5, false, Delivery{}).resume(known, noon)
		isKind(t, err, kind)
	}
	_, err := newState(5, false, Delivery{}).resume(nil, noon)
	equal(t, isKind(t, err, ErrConflict).Reason, "STREAM_SET_BACK")
}

// A connection stalls 30 s after the last answer or, before the first one, after sending; never if
// all are answered.
func TestConnectionStalls(t *testing.T) {
	state := newState(0, false, Delivery{})
	admit(t, state, boxes(0, 6))
	expectStall := func(expected time.Time) {
		t.Helper()
		stalls, due := state.stalledAt()
		equal(t, due, !expected.IsZero())
		if due {
			equal(t, stalls, expected)
		}
	}
	expectStall(time.Time{})
	state.take(at10(10))
	expectStall(at10(40))
	state.take(at10(20))
	expectStall(at10(40))
	_, err := state.acknowledge(3, at10(25))
	must(t, err)
	expectStall(at10(55))
	_, err = state.acknowledge(6, at10(26))
	must(t, err)
	expectStall(time.Time{})
}

// A full window accepts no further batch until something is acknowledged.
func TestWindowIsBounded(t *testing.T) {
	state := newState(0, false, Delivery{WindowFrames: 4})
	admit(t, state, boxes(0, 9))
	equal(t, len(state.take(noon).items), 3)
	equal(t, len(state.take(noon).items), 3)
	equal(t, len(state.take(noon).items), 0)
	_, waits := state.due()
	equal(t, waits, false)
	_, err := state.acknowledge(3, noon)
	must(t, err)
	equal(t, len(state.take(noon).items), 3)
}

// A break while nothing waits is not counted; a lasting error is reported all the same.
func TestIdleBreakCostsNoTime(t *testing.T) {
	state := newState(0, false, Delivery{})
	for _, seconds := range []float64{0, 1e6, 2e6} {
		delay, err := state.delay(endedEarly(), at10(seconds))
		must(t, err)
		equal(t, delay, 0)
	}
	_, err := state.delay(&Error{Kind: ErrConflict, Code: "ALREADY_EXISTS"}, noon)
	isKind(t, err, ErrConflict)
}

// Waits double up to the longest: at once, then 1, 2, 4, 4 s, half of which is random.
func TestWaitsDouble(t *testing.T) {
	for chance, expected := range map[float64][]time.Duration{
		1: {0, 1000, 2000, 4000, 4000, 4000},
		0: {0, 500, 1000, 2000, 2000, 2000},
	} {
		tries := newRetrying(Retry{Initial: time.Second, Maximum: 4 * time.Second, GiveUpAfter: Unlimited})
		tries.chance = func() float64 { return chance }
		for _, milliseconds := range expected {
			delay, err := tries.delay(brokenCall, noon)
			must(t, err)
			equal(t, delay, milliseconds*time.Millisecond)
		}
	}
}

// Retries end after a time without progress, or never.
func TestRetriesEnd(t *testing.T) {
	retry, _ := Retry{GiveUpAfter: 100 * time.Second}.checked()
	tries := newRetrying(retry)
	for _, seconds := range []float64{1000, 1099} {
		_, err := tries.delay(brokenCall, at10(seconds))
		must(t, err)
	}
	tries.progress()
	for _, seconds := range []float64{1100, 1199} {
		_, err := tries.delay(brokenCall, at10(seconds))
		must(t, err)
	}
	_, err := tries.delay(brokenCall, at10(1200))
	isKind(t, err, ErrUnavailable)
	retry.GiveUpAfter = Unlimited
	tries = newRetrying(retry)
	for step := range 2000 {
		delay, err := tries.delay(brokenCall, at10(float64(step)*1e6))
		must(t, err)
		if delay > 10*time.Second {
			t.Fatalf("waits %s", delay)
		}
	}
}

// An error that a retry may resolve is a break.
func TestBreaks(t *testing.T) {
	for _, example := range []struct {
		failure  Error
		expected bool
	}{
		{Error{Kind: ErrLimitExceeded, Code: "RESOURCE_EXHAUSTED", Reason: "STORE_FULL"}, true},
		{Error{Kind: ErrLimitExceeded, Code: "RESOURCE_EXHAUSTED", Reason: "LIMIT_EXCEEDED"}, false},
		{Error{Kind: ErrConflict, Code: "OUT_OF_RANGE", Reason: "OFFSET_GAP"}, true},
		{Error{Kind: ErrInternal, Code: "INTERNAL"}, true},
		{Error{Kind: ErrInternal, Code: "INTERNAL", Metadata: map[string]string{"incident": "1"}}, false},
		{Error{Kind: ErrInternal}, false},
	} {
		equal(t, isBreak(&example.failure), example.expected)
	}
}

// Settings with which nothing could be sent are refused.
func TestSettingsAreChecked(t *testing.T) {
	batchings := []Batching{
		{BatchFrames: -1}, {BatchBytes: -1}, {QueueFrames: -1}, {QueueBytes: -1},
		{BatchInterval: -1}, {Policy: 7}, {BlockTimeout: -2},
	}
	for _, batching := range batchings {
		_, err := batching.checked()
		isKind(t, err, ErrInput)
	}
	deliveries := []Delivery{
		{WindowFrames: -1}, {WindowBytes: -1}, {AcknowledgeTimeout: -1},
		{Retry: Retry{Initial: -1}}, {Retry: Retry{Initial: 2, Maximum: 1}}, {Retry: Retry{GiveUpAfter: -2}},
	}
	for _, delivery := range deliveries {
		_, err := delivery.checked()
		isKind(t, err, ErrInput)
	}
	for _, live := range []*Live{{}, {EveryFrames: -1}, {Every: -1}, {EveryFrames: 1, KeepReports: -1}} {
		_, err := live.checked()
		isKind(t, err, ErrInput)
	}
}

// No wait is shorter than the server wants, whatever the error is, and none passes the retry limit.
func TestServersDelayIsKept(t *testing.T) {
	tries := newRetrying(Retry{Initial: time.Second, Maximum: 8 * time.Second, GiveUpAfter: time.Minute})
	tries.chance = func() float64 { return 1 }
	busy := &Error{Kind: ErrLimitExceeded, Code: "RESOURCE_EXHAUSTED", RetryDelay: 3 * time.Second}
	for _, seconds := range []int{3, 3, 3, 4, 8} {
		delay, err := tries.delay(busy, noon)
		must(t, err)
		equal(t, delay, time.Duration(seconds)*time.Second)
	}
	busy.RetryDelay = 61 * time.Second
	_, err := tries.delay(busy, noon)
	isKind(t, err, ErrLimitExceeded)
}

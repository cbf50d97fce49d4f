package vidscore

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
)

// boxBytes is the counted bytes of a frame with one box: 24 for the frame, 24 for the object, 4
// numbers.
const boxBytes = 24 + 24 + 4*8

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at10(seconds float64) time.Time { return noon.Add(time.Duration(seconds * 1e9)) }

// emptyOutbox has an interval of 1 s.
func emptyOutbox(batching Batching) *outbox {
	batching.BatchInterval = time.Second
	return newOutbox(batching.withDefaults())
}

// drain takes everything that is due, as "side: numbers".
func drain(box *outbox, now time.Time) []string {
	taken := []string{}
	for {
		next := box.take(now)
		if len(next.items) == 0 {
			return taken
		}
		taken = append(taken, fmt.Sprint(next.side, numbersOf(next.items)))
	}
}

func expectBatches(t *testing.T, found []string, expected ...string) {
	t.Helper()
	if !slices.Equal(found, expected) {
		t.Errorf("found %v, expected %v", found, expected)
	}
}

func offer(t *testing.T, outbox *outbox, side Side, number int, now time.Time) {
	t.Helper()
	if !outbox.offer(side, items(box(number))[0], now) {
		t.Fatalf("frame %d was not taken in", number)
	}
}

// A frame is due when its interval is over, and not before.
func TestFrameWaitsForItsInterval(t *testing.T) {
	outbox := emptyOutbox(Batching{})
	offer(t, outbox, Truth, 0, at10(0))
	due, waits := outbox.due()
	equal(t, waits, true)
	equal(t, due, at10(1))
	expectBatches(t, drain(outbox, at10(0.999)))
	expectBatches(t, drain(outbox, at10(1)), "0 [0]")
	_, waits = outbox.due()
	equal(t, waits, false)
}

// The first frame of a batch decides when it is due; each side has an interval of its own.
func TestFirstFrameOfASideDecides(t *testing.T) {
	outbox := emptyOutbox(Batching{})
	offer(t, outbox, Truth, 0, at10(0))
	offer(t, outbox, Detections, 5, at10(0.5))
	offer(t, outbox, Truth, 1, at10(0.9))
	expectBatches(t, drain(outbox, at10(1)), "0 [0 1]")
	due, _ := outbox.due()
	equal(t, due, at10(1.5))
	expectBatches(t, drain(outbox, at10(1.5)), "1 [5]")
}

// A batch with the maximum number of frames is due at once.
func TestFullBatchIsDueAtOnce(t *testing.T) {
	outbox := emptyOutbox(Batching{BatchFrames: 3})
	for number := range 7 {
		offer(t, outbox, Truth, number, at10(0))
	}
	due, waits := outbox.due()
	equal(t, waits && due.IsZero(), true)
	expectBatches(t, drain(outbox, at10(0)), "0 [0 1 2]", "0 [3 4 5]")
	expectBatches(t, drain(outbox, at10(1)), "0 [6]")
}

// A batch is closed before it would be too large; a larger frame is sent alone.
func TestBatchesAreBoundedByBytes(t *testing.T) {
	outbox := emptyOutbox(Batching{BatchBytes: 2 * boxBytes})
	large := box(3)
	large.Coordinates = make([]float64, 4*50)
	for number := range 3 {
		offer(t, outbox, Truth, number, at10(0))
	}
	equal(t, outbox.offer(Truth, items(large)[0], at10(0)), true)
	offer(t, outbox, Truth, 4, at10(0))
	expectBatches(t, drain(outbox, at10(1)), "0 [0 1]", "0 [2]", "0 [3]", "0 [4]")
}

// Whole batches do not wait, keep their place behind single frames, and are cut by frames and bytes.
func TestWholeBatchesAreCut(t *testing.T) {
	outbox := emptyOutbox(Batching{BatchFrames: 4, BatchBytes: 3 * boxBytes})
	offer(t, outbox, Truth, 100, at10(0))
	equal(t, outbox.offerAll(Truth, items(boxes(0, 7)...)), true)
	expectBatches(t, drain(outbox, at10(0)), "0 [100]", "0 [0 1 2]", "0 [3 4 5]", "0 [6]")
}

// A server can make batches smaller but not larger.
func TestLimitMakesBatchesSmaller(t *testing.T) {
	outbox := emptyOutbox(Batching{BatchFrames: 4})
	outbox.keepTo(map[string]int64{"maximum_batch_frames": 100, "maximum_message_bytes": 4 * boxBytes})
	outbox.offerAll(Truth, items(boxes(0, 3)...))
	expectBatches(t, drain(outbox, at10(0)), "0 [0 1]", "0 [2]")
	outbox.keepTo(map[string]int64{"maximum_batch_frames": 1, "maximum_message_bytes": 2000 * boxBytes})
	outbox.offerAll(Truth, items(boxes(0, 2)...))
	expectBatches(t, drain(outbox, at10(0)), "0 [0]", "0 [1]")
}

// Frames with different columns are not put into one message; a frame without objects fits any
// message.
func TestFramesOfOtherColumnsGoApart(t *testing.T) {
	outbox := emptyOutbox(Batching{})
	plain, sized, empty := box(0), box(1), Frame{Sequence: "a", Number: 2}
	sized.Columns = map[string][]float64{"area": {4}}
	for _, frame := range []Frame{plain, empty, sized, sized, empty, plain} {
		equal(t, outbox.offer(Detections, items(frame)[0], at10(0)), true)
	}
	expectBatches(t, drain(outbox, at10(1)), "1 [0 2]", "1 [1 1 2]", "1 [0]")
}

// A full queue, by frames or bytes, accepts nothing until something is taken out; an empty one
// accepts frames that are larger than itself.
func TestQueueIsBounded(t *testing.T) {
	for _, batching := range []Batching{{QueueFrames: 3, BatchFrames: 2}, {QueueBytes: 3 * boxBytes, BatchFrames: 2}} {
		outbox := emptyOutbox(batching)
		equal(t, outbox.offerAll(Truth, items(boxes(0, 10)...)), true)
		equal(t, outbox.offer(Detections, items(box(0))[0], at10(0)), false)
		equal(t, len(drain(outbox, at10(0))), 5)
		for number := range 3 {
			offer(t, outbox, Truth, number, at10(0))
		}
		equal(t, outbox.offer(Detections, items(box(0))[0], at10(0)), false)
		equal(t, len(outbox.take(at10(0)).items), 2)
		offer(t, outbox, Detections, 0, at10(0))
	}
}

// Whatever is offered, every frame comes out once and in order, and the queue is empty again.
func TestEveryFrameComesOutOnce(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		outbox := emptyOutbox(Batching{BatchFrames: 1 + random.IntN(6), BatchBytes: 1 + random.IntN(500)})
		var offered, taken []int
		keep := func(now time.Time) {
			for next := outbox.take(now); len(next.items) > 0; next = outbox.take(now) {
				taken = append(taken, numbersOf(next.items)...)
			}
		}
		for step := range 30 {
			now, first := at10(float64(step)/3), len(offered)
			frames := boxes(first, first+1+random.IntN(5))
			if random.IntN(2) == 0 {
				frames = frames[:1]
				offer(t, outbox, Truth, first, now)
			} else {
				equal(t, outbox.offerAll(Truth, items(frames...)), true)
			}
			offered = append(offered, numbersOf(items(frames...))...)
			keep(now)
		}
		outbox.flush()
		keep(at10(0))
		if !slices.Equal(taken, offered) || outbox.frames != 0 || outbox.bytes != 0 {
			t.Fatalf("seed %d: took %v of %v", seed, taken, offered)
		}
	}
}

// The bytes that are counted are no fewer than those that are sent, with the longest encodings.
func TestCountedBytesBoundTheMessage(t *testing.T) {
	time := 0.1
	frame := Frame{Sequence: "a", Number: 1 << 62, DontCare: true, TimeS: &time}
	for range 200 {
		frame.Coordinates = append(frame.Coordinates, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
		frame.Labels = append(frame.Labels, "x")
		frame.Confidences = append(frame.Confidences, 0.3)
		frame.TrackIDs = append(frame.TrackIDs, -1)
		frame.Flags = append(frame.Flags, Distractor)
	}
	frame.TrackIDs[199] = 1 << 62
	checked, err := newItems([]Frame{frame, frame, frame}, Quadrilateral.Arity())
	must(t, err)
	if size := proto.Size(encodeItems(checked, 8)); size > sizeOf(checked) {
		t.Errorf("a message of %d bytes counts %d", size, sizeOf(checked))
	}
}

package vidscore

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// batch is frames of one side for one message.
type batch struct {
	side  Side
	items []item
}

// gathering is single frames of one side that wait for others.
type gathering struct {
	items []item
	size  int
	since time.Time
}

// outbox is a bounded queue that batches frames by size and time. It does no I/O and reads no
// clock: its caller passes the time and does the waiting, the locking and the sending.
type outbox struct {
	batching  Batching
	gathering [sides]gathering
	ready     []batch // frames that need not wait for others
	frames    int
	bytes     int
}

func newOutbox(batching Batching) *outbox { return &outbox{batching: batching} }

// due is the time at which take has a batch; false if nothing waits. The zero time is at once.
func (box *outbox) due() (time.Time, bool) {
	if len(box.ready) > 0 {
		return time.Time{}, true
	}
	var first time.Time
	waits := false
	for side := range box.gathering {
		waiting := &box.gathering[side]
		if len(waiting.items) > 0 && (!waits || waiting.since.Before(first)) {
			first, waits = waiting.since, true
		}
	}
	return first.Add(box.batching.BatchInterval), waits
}

// keepTo makes no larger batches than a server accepts, as far as it states its limits.
func (box *outbox) keepTo(limits map[string]int64) {
	box.batching.BatchFrames = min(box.batching.BatchFrames, limitOf(limits, "maximum_batch_frames"))
	// The other half of a message is for the tables of names, which the outbox does not count.
	box.batching.BatchBytes = min(box.batching.BatchBytes, limitOf(limits, "maximum_message_bytes")/2)
}

// messageLimits are limits that fewer frames in a message may keep, although nobody knows how
// many.
var messageLimits = []string{
	"maximum_batch_labels", "maximum_batch_objects", "maximum_batch_sequences", "maximum_message_bytes",
	"maximum_unstored_bytes", "maximum_unstored_call_bytes", "maximum_unstored_team_bytes",
}

// cutSmaller makes smaller batches than one that a server refused, which has at most so many
// frames. It reports whether earlier batches were larger.
func (box *outbox) cutSmaller(failure *Error, frames int) bool {
	maximum, err := strconv.ParseInt(failure.Metadata["maximum"], 10, 64)
	if err != nil {
		return false
	}
	before, name := box.batching, failure.Metadata["limit"]
	box.keepTo(map[string]int64{name: maximum})
	if box.batching == before && frames > 1 && slices.Contains(messageLimits, name) {
		box.batching.BatchFrames = frames / 2
	}
	return box.batching != before
}

func limitOf(limits map[string]int64, name string) int {
	if limit, known := limits[name]; known && limit > 0 {
		return int(min(limit, math.MaxInt32))
	}
	return math.MaxInt32
}

// offer accepts one frame, which waits for others, if there is room; it reports whether it did.
func (box *outbox) offer(side Side, frame item, now time.Time) bool {
	if !box.enter(1, frame.size) {
		return false
	}
	box.gather(side, frame, now)
	return true
}

// offerAll accepts frames that do not wait for others, if there is room for all of them.
func (box *outbox) offerAll(side Side, items []item) bool {
	if !box.enter(len(items), sizeOf(items)) {
		return false
	}
	box.seal(side)
	box.ready = append(box.ready, batch{side, items})
	return true
}

// flush makes all frames due now.
func (box *outbox) flush() {
	for side := range sides {
		box.seal(side)
	}
}

// take is the next due batch, at most as large as a message; empty if none is due.
func (box *outbox) take(now time.Time) batch {
	for side := range sides {
		waiting := &box.gathering[side]
		if len(waiting.items) > 0 && !now.Before(waiting.since.Add(box.batching.BatchInterval)) {
			box.seal(side)
		}
	}
	if len(box.ready) == 0 {
		return batch{}
	}
	head := &box.ready[0]
	count := box.fitting(head.items)
	taken := batch{head.side, head.items[:count:count]}
	head.items = head.items[count:]
	if len(head.items) == 0 {
		box.ready = slices.Delete(box.ready, 0, 1)
	}
	box.frames -= count
	box.bytes -= sizeOf(taken.items)
	return taken
}

// putBack returns the frames that were taken last, to be cut again.
func (box *outbox) putBack(side Side, items []item) {
	box.ready = slices.Insert(box.ready, 0, batch{side, items})
	box.frames += len(items)
	box.bytes += sizeOf(items)
}

func (box *outbox) enter(count, size int) bool {
	full := box.frames+count > box.batching.QueueFrames || box.bytes+size > box.batching.QueueBytes
	if box.frames > 0 && full {
		return false
	}
	box.frames += count
	box.bytes += size
	return true
}

func (box *outbox) gather(side Side, frame item, now time.Time) {
	waiting := &box.gathering[side]
	if len(waiting.items) > 0 && waiting.size+frame.size > box.batching.BatchBytes {
		box.seal(side)
	}
	if len(waiting.items) == 0 {
		waiting.since = now
	}
	waiting.items = append(waiting.items, frame)
	waiting.size += frame.size
	if len(waiting.items) >= box.batching.BatchFrames {
		box.seal(side)
	}
}

func (box *outbox) seal(side Side) {
	if waiting := &box.gathering[side]; len(waiting.items) > 0 {
		box.ready = append(box.ready, batch{side, waiting.items})
		*waiting = gathering{}
	}
}

// fitting is the number of leading frames that fit into a message, at least one. All of them must
// have the columns of the first one with objects.
func (box *outbox) fitting(items []item) int {
	size, pattern := 0, &items[0]
	for index := range items {
		frame := &items[index]
		size += frame.size
		if pattern.objects == 0 {
			pattern = frame
		}
		if index > 0 && (index >= box.batching.BatchFrames || size > box.batching.BatchBytes || !frame.joins(pattern)) {
			return index
		}
	}
	return len(items)
}

package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/anishathalye/porcupine"
)

// call is a call of a client, with what it was told.
type call struct {
	Client int    `json:"client"`
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
	Kind   string `json:"kind"`
	Stream string `json:"stream"`
	Epoch  int64  `json:"epoch"`
	Offset int64  `json:"offset"`
	Frames []int  `json:"frames"`
	// Count is the number of frames that a seal expects; below 0: any.
	Count int64 `json:"count"`
	// Told is the outcome: "ok", the reason of a refusal, or "unknown" where the call broke.
	Told string `json:"told"`
	// NextOffset, ToldEpoch and Total are what an answer had.
	NextOffset int64 `json:"next_offset"`
	ToldEpoch  int64 `json:"told_epoch"`
	Total      int64 `json:"total"`
}

type stream struct {
	epoch   int64
	end     int64
	batches map[int64][]int
}

// submission is a state of the model; it is never changed, but copied.
type submission struct {
	phase   string
	streams map[string]stream
}

const (
	open      = "open"
	sealed    = "sealed"
	cancelled = "cancelled"
)

var submissions = porcupine.Model{
	Init:  func() any { return submission{phase: open, streams: map[string]stream{}} },
	Step:  step,
	Equal: func(one, other any) bool { return reflect.DeepEqual(one, other) },
	DescribeOperation: func(input, _ any) string {
		return fmt.Sprintf("%+v", input)
	},
}

// answer is what the model says to a call: a reason or "ok", and the numbers of an answer.
type answer struct {
	told       string
	nextOffset int64
	epoch      int64
	total      int64
}

func step(state, input, _ any) (bool, any) {
	before, made := state.(submission), input.(call)
	said, after := before.take(made)
	if made.Told == "unknown" {
		return true, after
	}
	if said.told != made.Told {
		return false, before
	}
	if said.told != "ok" {
		return true, after
	}
	switch made.Kind {
	case "open":
		return said.epoch == made.ToldEpoch && said.nextOffset == made.NextOffset, after
	case "append":
		return said.nextOffset == made.NextOffset, after
	case "get":
		// What was cancelled is deleted, at some moment after.
		return before.phase == cancelled || said.total == made.Total, after
	}
	return true, after
}

func (before submission) take(made call) (answer, submission) {
	switch made.Kind {
	case "open":
		return before.open(made)
	case "append":
		return before.append(made)
	case "get":
		return answer{told: "ok", total: before.total()}, before
	case "seal":
		return before.seal(made)
	case "cancel":
		return answer{told: "ok"}, submission{cancelled, before.streams}
	}
	panic("a call of no kind: " + made.Kind)
}

func (before submission) open(made call) (answer, submission) {
	if before.phase != open {
		return answer{told: "SUBMISSION_ENDED"}, before
	}
	opened := before.streams[made.Stream]
	opened.epoch++
	return answer{told: "ok", epoch: opened.epoch, nextOffset: opened.end},
		before.with(made.Stream, opened)
}

func (before submission) append(made call) (answer, submission) {
	held := before.streams[made.Stream]
	end := made.Offset + int64(len(made.Frames))
	switch {
	case before.phase != open:
		return answer{told: "SUBMISSION_ENDED"}, before
	case made.Epoch != held.epoch:
		return answer{told: "EPOCH_STALE"}, before
	case made.Offset < held.end && end > held.end:
		return answer{told: "OFFSET_STRADDLES"}, before
	case made.Offset < held.end && !slices.Equal(held.batches[made.Offset], made.Frames):
		return answer{told: "CONTENT_DIFFERS"}, before
	case made.Offset < held.end:
		return answer{told: "ok", nextOffset: held.end}, before
	case made.Offset > held.end:
		return answer{told: "OFFSET_GAP"}, before
	case before.holds(made.Frames):
		return answer{told: "FRAME_EXISTS"}, before
	}
	held.batches = maps.Clone(held.batches)
	if held.batches == nil {
		held.batches = map[int64][]int{}
	}
	held.batches[made.Offset] = made.Frames
	held.end = end
	return answer{told: "ok", nextOffset: end}, before.with(made.Stream, held)
}

func (before submission) seal(made call) (answer, submission) {
	switch total := before.total(); {
	case before.phase == cancelled:
		return answer{told: "SUBMISSION_ENDED"}, before
	case made.Count >= 0 && made.Count != total:
		return answer{told: "FRAME_COUNT_DIFFERS"}, before
	case before.phase == open && total == 0:
		return answer{told: "NO_FRAMES"}, before
	}
	return answer{told: "ok"}, submission{sealed, before.streams}
}

func (before submission) total() int64 {
	var total int64
	for _, held := range before.streams {
		total += held.end
	}
	return total
}

func (before submission) holds(frames []int) bool {
	for _, held := range before.streams {
		for _, stored := range held.batches {
			for _, frame := range stored {
				if slices.Contains(frames, frame) {
					return true
				}
			}
		}
	}
	return false
}

func (before submission) with(name string, changed stream) submission {
	streams := maps.Clone(before.streams)
	streams[name] = changed
	return submission{before.phase, streams}
}

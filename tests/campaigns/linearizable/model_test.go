package main

import (
	"testing"

	"github.com/anishathalye/porcupine"
)

func made(start, end int64, change func(*call)) porcupine.Operation {
	one := call{Start: start, End: end, Stream: "a", Epoch: 1, Count: -1, Told: "ok"}
	change(&one)
	return porcupine.Operation{ClientId: one.Client, Input: one, Call: start, Output: one, Return: end}
}

func opened(start, end, epoch, offset int64) porcupine.Operation {
	return made(start, end, func(c *call) {
		c.Kind, c.ToldEpoch, c.NextOffset = "open", epoch, offset
	})
}

func appended(start, end, epoch, offset int64, told string, next int64, frames ...int) porcupine.Operation {
	return made(start, end, func(c *call) {
		c.Kind, c.Epoch, c.Offset, c.Frames = "append", epoch, offset, frames
		c.Told, c.NextOffset = told, next
	})
}

func TestHistoriesAreJudgedByOffsetsAndEpochs(t *testing.T) {
	cases := map[string]struct {
		history []porcupine.Operation
		good    bool
	}{
		"one after the other": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 3, 1, 0, "ok", 2, 1, 2), appended(4, 5, 1, 2, "ok", 3, 3)}, true},
		"the same batch again": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 3, 1, 0, "ok", 1, 1), appended(4, 5, 1, 0, "ok", 1, 1)}, true},
		"an older writer is refused": {[]porcupine.Operation{
			opened(0, 1, 1, 0), opened(2, 3, 2, 0), appended(4, 5, 1, 0, "EPOCH_STALE", 0, 1)}, true},
		"an older writer goes on": {[]porcupine.Operation{
			opened(0, 1, 1, 0), opened(2, 3, 2, 0), appended(4, 5, 1, 0, "ok", 1, 1)}, false},
		"a frame is stored twice": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 3, 1, 0, "ok", 1, 1), appended(4, 5, 1, 1, "ok", 2, 1)}, false},
		"an acknowledged batch is lost": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 3, 1, 0, "ok", 1, 1), opened(4, 5, 2, 0)}, false},
		"a call that broke has taken effect": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 99, 1, 0, "unknown", 0, 1), opened(4, 5, 2, 1)}, true},
		"a call that broke has taken none": {[]porcupine.Operation{
			opened(0, 1, 1, 0), appended(2, 99, 1, 0, "unknown", 0, 1), opened(4, 5, 2, 0)}, true},
	}
	for name, one := range cases {
		if porcupine.CheckOperations(submissions, one.history) != one.good {
			t.Errorf("%s: found %v, expected %v", name, !one.good, one.good)
		}
	}
}

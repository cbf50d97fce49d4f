package vidscore

import (
	"math/rand/v2"
	"slices"
	"time"
)

// breaks is the codes of a connection that broke at any hop, and of a server that restarts.
var breaks = []string{"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"}

// passingReasons is the reasons of a server that another offset, or time, resolves.
var passingReasons = []string{"OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL"}

// isBreak reports whether the same call may succeed over another connection, or later.
func isBreak(failure *Error) bool {
	if failure.RetryDelay > 0 {
		return true // the server itself says so
	}
	if _, own := failure.Metadata["incident"]; own && failure.Kind == ErrInternal {
		return false // the server itself failed at this request, and would again
	}
	return slices.Contains(breaks, failure.Code) || slices.Contains(passingReasons, failure.Reason)
}

// retrying counts tries. It does no I/O and reads no clock: its caller passes the time and does the
// waiting.
type retrying struct {
	retry  Retry
	chance func() float64 // numbers from 0 to 1, so that many clients do not return at the same time
	breaks int
	since  time.Time
}

func newRetrying(retry Retry) *retrying { return &retrying{retry: retry, chance: rand.Float64} }

// progress records that something has succeeded.
func (tries *retrying) progress() { tries.breaks = 0 }

// delay is the wait before the next try, at least as long as the server wants, or the failure if a
// retry is useless or would be too late.
func (tries *retrying) delay(failure *Error, now time.Time) (time.Duration, error) {
	if !isBreak(failure) {
		return 0, failure
	}
	return tries.again(failure, now)
}

// again is delay for a failure after which the next try may succeed whatever its kind.
func (tries *retrying) again(failure *Error, now time.Time) (time.Duration, error) {
	if tries.breaks == 0 {
		tries.since = now
	}
	if limit := tries.retry.GiveUpAfter; limit != Unlimited {
		left := limit - now.Sub(tries.since)
		if (tries.breaks > 0 && left <= 0) || failure.RetryDelay > left {
			return 0, failure
		}
	}
	tries.breaks++
	return max(failure.RetryDelay, tries.ownDelay()), nil
}

// ownDelay is the wait before the next try if the server gives none.
func (tries *retrying) ownDelay() time.Duration {
	if tries.breaks == 1 {
		return 0
	}
	whole := tries.retry.Initial
	for doubling := 2; doubling < tries.breaks && whole < tries.retry.Maximum; doubling++ {
		whole *= 2
	}
	whole = min(whole, tries.retry.Maximum)
	return time.Duration(float64(whole) * (1 + tries.chance()) / 2)
}

// endedEarly is the error of a call that the server ended without an error before it was done.
func endedEarly() *Error { return unavailableError("the server ended the call") }

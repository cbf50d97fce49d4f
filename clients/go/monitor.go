package vidscore

import (
	"context"
	"sync"
	"time"
)

// monitor is a lock with which goroutines wait for changes of what it guards, for a time or until
// their context is done.
type monitor struct {
	sync.Mutex
	changed chan struct{}
}

func newMonitor() *monitor { return &monitor{changed: make(chan struct{})} }

// notify wakes all that wait. The caller holds the lock.
func (guard *monitor) notify() {
	close(guard.changed)
	guard.changed = make(chan struct{})
}

// wait releases the lock until something changes or the context is done.
func (guard *monitor) wait(ctx context.Context) {
	changed := guard.changed
	guard.Unlock()
	defer guard.Lock()
	select {
	case <-changed:
	case <-ctx.Done():
	}
}

// waitUntil is wait, until a time at the latest if limited is true.
func (guard *monitor) waitUntil(ctx context.Context, limit time.Time, limited bool) {
	if !limited {
		guard.wait(ctx)
		return
	}
	timed, cancel := context.WithDeadline(ctx, limit)
	defer cancel()
	guard.wait(timed)
}

// room is how a caller waits for room in a queue.
type room struct {
	guard    *monitor
	batching Batching
	admit    func() (bool, error)
	refusal  func(waited time.Duration) *Error
}

// await waits as the policy says until frames are accepted. The caller holds the lock.
func (wanted room) await(ctx context.Context) error {
	start := time.Now()
	timeout := wanted.batching.BlockTimeout
	for {
		admitted, err := wanted.admit()
		if err != nil || admitted {
			return err
		}
		if wanted.batching.Policy == Refuse {
			return wanted.refusal(0)
		}
		if ctx.Err() != nil {
			return contextError(ctx.Err(), "the queue had no room")
		}
		if timeout != Unlimited && time.Since(start) >= timeout {
			return wanted.refusal(timeout)
		}
		wanted.guard.waitUntil(ctx, start.Add(timeout), timeout != Unlimited)
	}
}

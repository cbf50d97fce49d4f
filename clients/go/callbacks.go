package vidscore

import (
	"bytes"
	"runtime"
)

// running is the goroutine that runs a callback, empty while none runs. The lock of the stream
// guards it.
type running string

// begin records that this goroutine runs the callback.
func (runs *running) begin() { *runs = running(goroutine()) }

// end records that the callback has returned.
func (runs *running) end() { *runs = "" }

// refuse is the error of a call by the callback that would wait for the callback itself.
func (runs running) refuse(calls, callback string) error {
	if runs == "" || string(runs) != goroutine() {
		return nil
	}
	return &Error{
		Kind:    ErrCallback,
		Message: calls + " cannot be called in " + callback + ", which would wait for itself; call from another goroutine",
		Reason:  "CALLBACK_FAILED",
	}
}

// goroutine is the number of this goroutine. Go has no function for it, but each stack trace begins
// with it: "goroutine 7 [running]:".
func goroutine() string {
	var trace [32]byte
	return string(bytes.Fields(trace[:runtime.Stack(trace[:], false)])[1])
}

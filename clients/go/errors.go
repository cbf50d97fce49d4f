package vidscore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is a kind of error. Kinds are errors, so that [errors.Is] reports whether an error has one.
// A kind can be a special case of another; its errors have both kinds.
type Kind string

// The kinds of errors.
const (
	// ErrInvalidArgument: the server refuses the request; Violations has the faults.
	ErrInvalidArgument Kind = "invalid_argument"
	// ErrNotFound: there is no resource of that name.
	ErrNotFound Kind = "not_found"
	// ErrLimitExceeded: a limit of the server is reached; the text names it.
	ErrLimitExceeded Kind = "limit_exceeded"
	// ErrQuotaExceeded: the team's quota of submissions is used up. An ErrLimitExceeded.
	ErrQuotaExceeded Kind = "quota_exceeded"
	// ErrUnavailable: the server cannot be reached, or is shutting down.
	ErrUnavailable Kind = "unavailable"
	// ErrDeadline: the caller's timeout was exceeded.
	ErrDeadline Kind = "deadline"
	// ErrCallCancelled: this client cancelled the call, or somebody cancelled work on the server.
	ErrCallCancelled Kind = "call_cancelled"
	// ErrAccessDenied: the token is missing, unknown, or not allowed to do this.
	ErrAccessDenied Kind = "access_denied"
	// ErrConflict: the request does not fit the server's state; Reason says why.
	ErrConflict Kind = "conflict"
	// ErrSuperseded: a newer writer has opened the same stream; this one must stop. An ErrConflict.
	ErrSuperseded Kind = "superseded"
	// ErrSubmissionEnded: the submission is sealed or cancelled and takes no more frames. An
	// ErrConflict.
	ErrSubmissionEnded Kind = "submission_ended"
	// ErrVersion: client and server have incompatible versions; the text says which one to update,
	// and Metadata has both, as client_version and server_version. An ErrConflict.
	ErrVersion Kind = "version"
	// ErrUnsupported: the server does not have this call: it hosts no benchmarks, or is older.
	ErrUnsupported Kind = "unsupported"
	// ErrInternal: the server failed, or this client cannot understand its answer.
	ErrInternal Kind = "internal"
	// ErrInput: an argument has the wrong shape; nothing was sent.
	ErrInput Kind = "input"
	// ErrBackPressure: the queue of a stream is full. The frames of the call were not queued; the
	// stream continues.
	ErrBackPressure Kind = "back_pressure"
	// ErrClosed: the stream is finished, or the client is closed.
	ErrClosed Kind = "closed"
	// ErrCallback: a callback of the caller returned an error, which is wrapped; the stream has
	// ended.
	ErrCallback Kind = "callback"
)

// Error returns the kind as text.
func (kind Kind) Error() string { return "vidscore: " + string(kind) }

// parents has the general kind of each special kind.
var parents = map[Kind]Kind{
	ErrQuotaExceeded:   ErrLimitExceeded,
	ErrSuperseded:      ErrConflict,
	ErrSubmissionEnded: ErrConflict,
	ErrVersion:         ErrConflict,
}

// FieldViolation is one fault of a request.
type FieldViolation struct {
	// Field is its place, as a path into the request.
	Field string
	// Description is what was found, and what was expected.
	Description string
}

// String gives both in one line.
func (violation FieldViolation) String() string {
	if violation.Field == "" {
		return violation.Description
	}
	return violation.Field + ": " + violation.Description
}

// Error is the one error type of this package.
type Error struct {
	// Kind of the error.
	Kind Kind
	// Message is what went wrong, without the list of violations.
	Message string
	// Code is the canonical gRPC code by name, such as INVALID_ARGUMENT; empty for an error that
	// was found on this side before anything was sent.
	Code string
	// Reason is a stable upper-case word for machines; the code if the server gave none.
	Reason string
	// Violations is the faults of the request; the server sends the first twenty.
	Violations []FieldViolation
	// ViolationCount is the number of all faults.
	ViolationCount int
	// Metadata is further facts from the server, by name.
	Metadata map[string]string
	// RetryDelay is the time after which a retry may succeed, according to the server; 0 if it
	// gives none.
	RetryDelay time.Duration

	cause error
}

// Error returns the message and, if there are several, the violations.
func (failure *Error) Error() string {
	var text strings.Builder
	text.WriteString(failure.Message)
	if failure.ViolationCount > 1 {
		// If there is one violation, the server's message states it; otherwise it states the first.
		for _, violation := range failure.Violations {
			text.WriteString("\n  " + violation.String())
		}
	}
	if more := failure.ViolationCount - len(failure.Violations); more > 0 {
		fmt.Fprintf(&text, "\n  ... and %d more", more)
	}
	return text.String()
}

// Retryable reports whether the same call may succeed later.
func (failure *Error) Retryable() bool { return failure.Kind == ErrUnavailable }

// Is reports whether the error is of a [Kind]. A deadline and a cancelled call also match the
// errors of package context.
func (failure *Error) Is(target error) bool {
	switch target {
	case failure.Kind, parents[failure.Kind]:
		return true
	case context.DeadlineExceeded:
		return failure.Kind == ErrDeadline
	case context.Canceled:
		return failure.Kind == ErrCallCancelled
	}
	return false
}

// Unwrap returns the cause of the error, if it is known.
func (failure *Error) Unwrap() error { return failure.cause }

// asError returns the [*Error] in an error; any other error becomes one of the given kind.
func asError(err error, kind Kind) *Error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	return &Error{Kind: kind, Message: err.Error(), Reason: strings.ToUpper(string(kind)), cause: err}
}

func inputError(argument, found, expected string) *Error {
	message := fmt.Sprintf("%s: found %s, expected %s", argument, found, expected)
	return &Error{Kind: ErrInput, Message: message, Reason: "INVALID_INPUT"}
}

func closedError(message string) *Error {
	return &Error{Kind: ErrClosed, Message: message, Reason: "CLOSED"}
}

func internalError(message string) *Error {
	return &Error{Kind: ErrInternal, Message: message}
}

func unavailableError(message string) *Error {
	return &Error{Kind: ErrUnavailable, Message: message, Code: "UNAVAILABLE", Reason: "UNAVAILABLE"}
}

func callbackError(name string, cause error) *Error {
	message := fmt.Sprintf("%s failed: %v", name, cause)
	return &Error{Kind: ErrCallback, Message: message, Reason: "CALLBACK_FAILED", cause: cause}
}

// notDelivered is the error of frames that are dropped after the timeout of delivery.
func notDelivered(frames int, timeout time.Duration) *Error {
	message := fmt.Sprintf("%s dropped: not durable within %v", counted(frames, "frame"), timeout)
	return &Error{Kind: ErrDeadline, Message: message, Code: "DEADLINE_EXCEEDED", Reason: "DEADLINE_EXCEEDED"}
}

// counted is a number with its noun: 1 frame, 2 frames.
func counted[Number int | int64](count Number, noun string) string {
	if count == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", count, noun)
}

// contextError is the error of a wait that the caller's context ended.
func contextError(cause error, waited string) *Error {
	failure := ofContext(cause)
	if failure.Kind == ErrDeadline {
		failure.Message = waited + " in time"
	} else {
		failure.Message = waited + " before the wait was cancelled"
	}
	return failure
}

// endedByContext is the error of a stream whose context is done, or whose client is closed.
func endedByContext(cause error) *Error {
	failure := ofContext(cause)
	failure.Message = "the stream has ended: its context is done or its client closed"
	return failure
}

func ofContext(cause error) *Error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Error{Kind: ErrDeadline, Code: "DEADLINE_EXCEEDED", Reason: "DEADLINE_EXCEEDED", cause: cause}
	}
	return &Error{Kind: ErrCallCancelled, Code: "CANCELLED", Reason: "CANCELLED", cause: cause}
}

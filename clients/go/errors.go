package vidscore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is what sort of thing went wrong. Kinds are errors, so that [errors.Is] tells whether an
// error is of one: a kind that is a special case of another one is found under both.
type Kind string

// The kinds of errors.
const (
	// ErrInvalidArgument: the server refuses what was sent; Violations says what and where.
	ErrInvalidArgument Kind = "invalid_argument"
	// ErrNotFound: there is nothing of that name.
	ErrNotFound Kind = "not_found"
	// ErrLimitExceeded: a limit of the server is reached; the text names it.
	ErrLimitExceeded Kind = "limit_exceeded"
	// ErrQuotaExceeded: the team's quota of submissions is used up. An ErrLimitExceeded.
	ErrQuotaExceeded Kind = "quota_exceeded"
	// ErrUnavailable: the server cannot be reached, or is shutting down.
	ErrUnavailable Kind = "unavailable"
	// ErrDeadline: it took longer than the caller wanted to wait.
	ErrDeadline Kind = "deadline"
	// ErrCallCancelled: the call was cancelled by this side.
	ErrCallCancelled Kind = "call_cancelled"
	// ErrAccessDenied: the token is missing, unknown, or not allowed to do this.
	ErrAccessDenied Kind = "access_denied"
	// ErrConflict: the request does not fit the state that the server is in; Reason says how.
	ErrConflict Kind = "conflict"
	// ErrSuperseded: a younger writer has opened the same stream. An ErrConflict.
	ErrSuperseded Kind = "superseded"
	// ErrSubmissionEnded: the submission takes no more frames. An ErrConflict.
	ErrSubmissionEnded Kind = "submission_ended"
	// ErrVersion: client and server are of versions that do not work together; the text says which
	// to update, and Metadata has both, as client_version and server_version. An ErrConflict.
	ErrVersion Kind = "version"
	// ErrUnsupported: the server does not have this call: it may be older than this client.
	ErrUnsupported Kind = "unsupported"
	// ErrInternal: the server failed, or answered what this client cannot understand.
	ErrInternal Kind = "internal"
	// ErrInput: an argument has the wrong shape; nothing was sent.
	ErrInput Kind = "input"
	// ErrBackPressure: the queue of a stream is full. The frames of the call that returns this are
	// not queued; the stream goes on.
	ErrBackPressure Kind = "back_pressure"
	// ErrClosed: the stream is finished, or the client closed.
	ErrClosed Kind = "closed"
	// ErrCallback: a callback of the caller's returned an error, which is wrapped; the stream has
	// ended.
	ErrCallback Kind = "callback"
)

// Error returns the kind as text.
func (kind Kind) Error() string { return "vidscore: " + string(kind) }

// parents has the kind that a kind is a special case of.
var parents = map[Kind]Kind{
	ErrQuotaExceeded:   ErrLimitExceeded,
	ErrSuperseded:      ErrConflict,
	ErrSubmissionEnded: ErrConflict,
	ErrVersion:         ErrConflict,
}

// FieldViolation is one thing that is wrong with a request.
type FieldViolation struct {
	// Field is where it is, as a path into the request.
	Field string
	// Description is what was found there and what was expected.
	Description string
}

// String says both in one line.
func (violation FieldViolation) String() string {
	if violation.Field == "" {
		return violation.Description
	}
	return violation.Field + ": " + violation.Description
}

// Error is the one error type of this package.
type Error struct {
	// Kind is what sort of thing went wrong.
	Kind Kind
	// Message is what went wrong, without the list of violations that the text has.
	Message string
	// Code is the canonical gRPC code by name, such as INVALID_ARGUMENT; empty for an error that
	// was found on this side before anything was sent.
	Code string
	// Reason is a stable upper-case word for machines; the code where the server gave none.
	Reason string
	// Violations is what is wrong with the request; the server sends the first twenty.
	Violations []FieldViolation
	// ViolationCount is how many things are wrong in all.
	ViolationCount int
	// Metadata is further facts that the server gave, by name.
	Metadata map[string]string
	// RetryDelay is the time after which the server says that the same may go well; 0 where it says
	// nothing of the kind.
	RetryDelay time.Duration

	cause error
}

// Error returns the message and, if there are several, the violations.
func (failure *Error) Error() string {
	var text strings.Builder
	text.WriteString(failure.Message)
	if failure.ViolationCount > 1 {
		// The message of the server tells the only one, or the first.
		for _, violation := range failure.Violations {
			text.WriteString("\n  " + violation.String())
		}
	}
	if more := failure.ViolationCount - len(failure.Violations); more > 0 {
		fmt.Fprintf(&text, "\n  ... and %d more", more)
	}
	return text.String()
}

// Retryable tells whether the same call may well succeed if it is made again later.
func (failure *Error) Retryable() bool { return failure.Kind == ErrUnavailable }

// Is tells whether the error is of a [Kind]. A deadline and a cancelled call are also what package
// context calls so.
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

// Unwrap returns what the error was caused by, if that is known.
func (failure *Error) Unwrap() error { return failure.cause }

// asError returns the [*Error] in an error; another error becomes one of the given kind.
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

// notDelivered tells that frames are given up because the time to deliver them is over.
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

// contextError tells that a caller's context was done before what it waited for.
func contextError(cause error, waited string) *Error {
	failure := ofContext(cause)
	if failure.Kind == ErrDeadline {
		failure.Message = waited + " in time"
	} else {
		failure.Message = waited + " before the wait was cancelled"
	}
	return failure
}

// endedByContext tells that the context of a stream was done, or its client closed.
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

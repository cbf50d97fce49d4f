package vidscore

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	errorDomain = "vidscore"
	// violationCountKey is the metadata key of the number of all violations.
	violationCountKey = "violations"
)

// messageTooLarge is the text with which the server's gRPC refuses a message before the server
// reads it.
var messageTooLarge = regexp.MustCompile(`^SERVER: Received message larger than max \((\d+) vs\. (\d+)\)$`)

type codeFacts struct {
	name string
	kind Kind
}

var byCode = map[codes.Code]codeFacts{
	codes.Canceled:           {"CANCELLED", ErrCallCancelled},
	codes.Unknown:            {"UNKNOWN", ErrInternal},
	codes.InvalidArgument:    {"INVALID_ARGUMENT", ErrInvalidArgument},
	codes.DeadlineExceeded:   {"DEADLINE_EXCEEDED", ErrDeadline},
	codes.NotFound:           {"NOT_FOUND", ErrNotFound},
	codes.AlreadyExists:      {"ALREADY_EXISTS", ErrConflict},
	codes.PermissionDenied:   {"PERMISSION_DENIED", ErrAccessDenied},
	codes.ResourceExhausted:  {"RESOURCE_EXHAUSTED", ErrLimitExceeded},
	codes.FailedPrecondition: {"FAILED_PRECONDITION", ErrConflict},
	codes.Aborted:            {"ABORTED", ErrConflict},
	codes.OutOfRange:         {"OUT_OF_RANGE", ErrConflict},
	codes.Unimplemented:      {"UNIMPLEMENTED", ErrUnsupported},
	codes.Internal:           {"INTERNAL", ErrInternal},
	codes.Unavailable:        {"UNAVAILABLE", ErrUnavailable},
	codes.DataLoss:           {"DATA_LOSS", ErrInternal},
	codes.Unauthenticated:    {"UNAUTHENTICATED", ErrAccessDenied},
}

// byReason has the reasons with a kind of their own, a special case of the code's kind.
var byReason = map[string]Kind{
	"EPOCH_STALE":         ErrSuperseded,
	"QUOTA_EXCEEDED":      ErrQuotaExceeded,
	"SUBMISSION_ENDED":    ErrSubmissionEnded,
	"VERSION_UNSUPPORTED": ErrVersion,
}

// fromStatus makes an [*Error] of the error of a call.
func fromStatus(err error) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own // of this client
	}
	answer := status.Convert(err)
	if answer.Code() == codes.ResourceExhausted {
		if found := messageTooLarge.FindStringSubmatch(answer.Message()); found != nil {
			return ofTooLarge(found[1], found[2], err)
		}
	}
	facts, known := byCode[answer.Code()]
	if !known {
		facts = byCode[codes.Unknown]
	}
	information, violations, retryDelay := detailsOf(answer)
	kind, special := byReason[information.GetReason()]
	if !special {
		kind = facts.kind
	}
	message := orElse(answer.Message(), "the call ended with "+facts.name)
	if answer.Code() == codes.DeadlineExceeded && information == nil {
		message = "the call has exceeded its timeout"
	}
	return &Error{
		Kind:           kind,
		Message:        message,
		Code:           facts.name,
		Reason:         orElse(information.GetReason(), facts.name),
		Violations:     violations,
		ViolationCount: violationCount(information.GetMetadata(), len(violations)),
		Metadata:       information.GetMetadata(),
		RetryDelay:     retryDelay,
		cause:          err,
	}
}

func ofTooLarge(size, maximum string, cause error) *Error {
	return &Error{
		Kind: ErrLimitExceeded,
		Message: fmt.Sprintf("a message of %s bytes; the server accepts at most %s: "+
			"send less at once, or raise its limit maximum_message_bytes", size, maximum),
		Code:     "RESOURCE_EXHAUSTED",
		Reason:   "LIMIT_EXCEEDED",
		Metadata: map[string]string{"limit": "maximum_message_bytes", "maximum": maximum},
		cause:    cause,
	}
}

// fromCall makes an [*Error] of the error of a call that some contexts can end. A call that was
// cancelled while none of them was done was cut: gRPC's server ends calls so that arrive while it
// stops.
func fromCall(err error, contexts ...context.Context) *Error {
	failure := fromStatus(err)
	isDone := func(ctx context.Context) bool { return ctx.Err() != nil }
	if failure.Reason == "CANCELLED" && !slices.ContainsFunc(contexts, isDone) {
		failure.Kind, failure.Code, failure.Reason = ErrUnavailable, "UNAVAILABLE", "UNAVAILABLE"
	}
	return failure
}

// detailsOf reads google.rpc.ErrorInfo, BadRequest and RetryInfo from a status.
func detailsOf(answer *status.Status) (*errdetails.ErrorInfo, []FieldViolation, time.Duration) {
	var retryDelay time.Duration
	var information *errdetails.ErrorInfo
	var violations []FieldViolation
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.Domain == errorDomain {
				information = detail
			}
		case *errdetails.BadRequest:
			for _, violation := range detail.FieldViolations {
				violations = append(violations, FieldViolation{violation.Field, violation.Description})
			}
		case *errdetails.RetryInfo:
			retryDelay = max(0, detail.RetryDelay.AsDuration())
		}
	}
	return information, violations, retryDelay
}

func violationCount(metadata map[string]string, known int) int {
	count, err := strconv.Atoi(metadata[violationCountKey])
	if err != nil {
		return known
	}
	return max(known, count)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

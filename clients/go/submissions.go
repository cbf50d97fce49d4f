package vidscore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"iter"
	"time"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// AnyFrameCount seals a submission with any number of frames.
const AnyFrameCount = -1

// watchCallTimeout is the time after which a watching call is replaced: proxies end calls that are
// silent for a minute.
const watchCallTimeout = 45 * time.Second

// CreateSubmission opens a submission. The name is the last part of its full name: 1 to 63
// lower-case letters, digits and hyphens, a letter first; empty: the server chooses. The title is
// for people.
//
// Errors: [ErrConflict] if the name is taken, or the benchmark accepts no submissions now;
// [ErrQuotaExceeded] if the team may have no more.
func (client *Client) CreateSubmission(ctx context.Context, benchmark, name, title string) (*Submission, error) {
	full, err := benchmarkName(benchmark)
	if err := firstError(err, validText("name", name), validText("title", title)); err != nil {
		return nil, err
	}
	response, err := unary(ctx, client, client.submissions.CreateSubmission, &vidscorev1.CreateSubmissionRequest{
		Benchmark: full, SubmissionId: name, Title: title, RequestId: rand.Text(),
	})
	return decodeSubmissionOf(response.GetSubmission(), err)
}

// GetSubmission is one submission, named {benchmark}/{submission} or by its full name;
// [ErrNotFound] if there is none of that name, or the caller may not see it.
func (client *Client) GetSubmission(ctx context.Context, submission string) (*Submission, error) {
	name, err := submissionName(submission)
	if err != nil {
		return nil, err
	}
	response, err := unary(ctx, client, client.submissions.GetSubmission, &vidscorev1.GetSubmissionRequest{Name: name})
	return decodeSubmissionOf(response.GetSubmission(), err)
}

// ListSubmissions is the submissions that the caller may see, newest first.
func (client *Client) ListSubmissions(ctx context.Context, benchmark string) ([]*Submission, error) {
	name, err := benchmarkName(benchmark)
	if err != nil {
		return nil, err
	}
	var found []*Submission
	err = eachPage(func(token string) (string, error) {
		request := &vidscorev1.ListSubmissionsRequest{Benchmark: name, PageToken: token}
		response, err := unary(ctx, client, client.submissions.ListSubmissions, request)
		for _, submission := range response.GetSubmissions() {
			found = append(found, decodeSubmission(submission))
		}
		return response.GetNextPageToken(), err
	})
	return found, err
}

// SealSubmission ends the appends of a submission, which is then scored. Sealing again changes
// nothing. expectedFrames is the number of frames that must be durable in all streams together, or
// [AnyFrameCount].
//
// Errors: [ErrConflict] with reason FRAME_COUNT_DIFFERS if another number of frames is durable;
// then nothing is sealed.
func (client *Client) SealSubmission(ctx context.Context, submission string, expectedFrames int64) (*Submission, error) {
	return client.seal(ctx, submission, expectedFrames, client.endpoint.retry)
}

// CancelSubmission cancels a submission.
func (client *Client) CancelSubmission(ctx context.Context, submission string) (*Submission, error) {
	name, err := submissionName(submission)
	if err != nil {
		return nil, err
	}
	response, err := unary(ctx, client, client.submissions.CancelSubmission, &vidscorev1.CancelSubmissionRequest{Name: name})
	return decodeSubmissionOf(response.GetSubmission(), err)
}

// Scores is the scores of a submission that the caller may see, newest first.
func (client *Client) Scores(ctx context.Context, submission string) ([]*SubmissionScore, error) {
	name, err := submissionName(submission)
	if err != nil {
		return nil, err
	}
	var found []*SubmissionScore
	err = eachPage(func(token string) (string, error) {
		request := &vidscorev1.ListScoresRequest{Submission: name, PageToken: token}
		response, err := unary(ctx, client, client.submissions.ListScores, request)
		found = append(found, decodeScores(response.GetScores())...)
		return response.GetNextPageToken(), err
	})
	return found, err
}

// WatchSubmission is the submission now and after each change, until it has ended. It reconnects
// automatically after a break. An error comes last: [ErrDeadline] if the submission has not ended
// when the context is done.
func (client *Client) WatchSubmission(ctx context.Context, submission string) iter.Seq2[*SubmissionUpdate, error] {
	return client.watch(ctx, submission, client.endpoint.retry)
}

// WaitSubmission waits until a submission has ended: it is scored, has failed, or was cancelled.
// [ErrDeadline] if it has not ended when the context is done; it continues.
func (client *Client) WaitSubmission(ctx context.Context, submission string) (*Submission, error) {
	return client.wait(ctx, submission, client.endpoint.retry)
}

func (client *Client) wait(ctx context.Context, submission string, retry Retry) (*Submission, error) {
	var last *Submission
	for update, err := range client.watch(ctx, submission, retry) {
		if err != nil {
			return nil, err
		}
		last = update.Submission
	}
	return last, nil
}

func (client *Client) seal(ctx context.Context, submission string, expectedFrames int64, retry Retry) (*Submission, error) {
	name, err := submissionName(submission)
	if err != nil {
		return nil, err
	}
	request := &vidscorev1.SealSubmissionRequest{Name: name}
	if expectedFrames >= 0 {
		request.ExpectedFrameCount = &expectedFrames
	}
	tries := newRetrying(retry)
	for {
		response, err := unary(ctx, client, client.submissions.SealSubmission, request)
		if err == nil {
			return decodeSubmission(response.GetSubmission()), nil
		}
		if err := pause(ctx, client.context, tries, asError(err, ErrInternal)); err != nil {
			return nil, err
		}
	}
}

func (client *Client) watch(ctx context.Context, submission string, retry Retry) iter.Seq2[*SubmissionUpdate, error] {
	return func(yield func(*SubmissionUpdate, error) bool) {
		name, err := submissionName(submission)
		if err != nil {
			yield(nil, err)
			return
		}
		watched := &watch{client: client, request: &vidscorev1.WatchSubmissionRequest{Name: name}, tries: newRetrying(retry)}
		for !watched.over {
			failure := watched.follow(ctx, yield)
			if watched.over {
				return
			}
			if err := watched.pause(ctx, failure); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// watch watches a submission over as many calls as needed.
type watch struct {
	client  *Client
	request *vidscorev1.WatchSubmissionRequest
	tries   *retrying
	over    bool // whether the submission has ended, or nobody listens any more
}

// follow makes one call; it returns why the call ended, unless the watch is over.
func (watched *watch) follow(ctx context.Context, yield func(*SubmissionUpdate, error) bool) *Error {
	ctx, cancel, err := watched.client.streamContext(ctx)
	if err != nil {
		return asError(err, ErrClosed)
	}
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, watchCallTimeout)
	defer stop()
	call, err := watched.client.submissions.WatchSubmission(ctx, watched.request)
	for err == nil {
		var response *vidscorev1.WatchSubmissionResponse
		if response, err = call.Recv(); err == nil {
			watched.tries.progress()
			update := &SubmissionUpdate{decodeSubmission(response.GetSubmission()), decodeScores(response.GetScores())}
			watched.request.FromRevision = max(watched.request.FromRevision, update.Submission.Revision)
			watched.over = !yield(update, nil) || update.Submission.State.HasEnded()
			if watched.over {
				return nil
			}
		}
	}
	if errors.Is(err, io.EOF) {
		return endedEarly()
	}
	return fromCall(err, ctx)
}

func (watched *watch) pause(ctx context.Context, failure *Error) error {
	var err error
	if failure.Kind == ErrDeadline && ctx.Err() == nil {
		watched.tries.progress() // nothing has happened for a while, and nothing failed
		err = sleep(ctx, watched.client.context, watched.tries.retry.Initial, failure)
	} else {
		err = pause(ctx, watched.client.context, watched.tries, failure)
	}
	if err != nil && ctx.Err() != nil {
		return contextError(ctx.Err(), "the submission did not end")
	}
	return err
}

// pause waits before the next try. It returns the reason if there is none: a retry is useless, the
// caller's context is done, or the client is closed.
func pause(ctx, client context.Context, tries *retrying, failure *Error) error {
	if ctx.Err() != nil || client.Err() != nil {
		return failure
	}
	delay, err := tries.delay(failure, time.Now())
	if err != nil {
		return err
	}
	return sleep(ctx, client, delay, failure)
}

// sleep returns the failure if the caller's context is done, or the client closed, before.
func sleep(ctx, client context.Context, delay time.Duration, failure *Error) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
	case <-client.Done():
	}
	return failure
}

func decodeSubmissionOf(message *vidscorev1.Submission, err error) (*Submission, error) {
	if err != nil {
		return nil, err
	}
	return decodeSubmission(message), nil
}

package vidscore

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

const submissionRun = "benchmarks/streets/submissions/run"

// fault happens once to an append; an error ends the call.
type fault func() error

// fakeSubmissions is a server that accepts one submission by the offset protocol, and fails on
// demand.
type fakeSubmissions struct {
	vidscorev1.UnimplementedBenchmarkServiceServer
	vidscorev1.UnimplementedSubmissionServiceServer
	wire *wire

	lock        sync.Mutex
	before      []fault // what happens to the next appends before they are stored
	after       []fault // what happens once they are stored, before they are acknowledged
	stored      []int
	contents    map[int64][]byte // every stored batch by its offset
	offsets     []int64          // of every batch that came, stored or not
	epoch       int64
	state       vidscorev1.SubmissionState
	expected    *int64
	creations   int
	creation    error                                 // with which a creation is refused
	sealings    []fault                               // what happens to the next sealings
	revisions   []int64                               // from which each watcher asked
	watchScript []*vidscorev1.WatchSubmissionResponse // what watchers are told; nil breaks the call
	limits      map[string]int64                      // that it states
	hold        chan struct{}                         // appends wait for it, where it is there
	geometry    vidscorev1.Geometry                   // of detections
}

func serveSubmissions(t *testing.T) (*fakeSubmissions, *Client) {
	t.Helper()
	checkGoroutines(t)
	fake := &fakeSubmissions{contents: map[int64][]byte{}, geometry: vidscorev1.Geometry_GEOMETRY_BOX}
	fake.wire = serve(t, func(server *grpc.Server) {
		vidscorev1.RegisterBenchmarkServiceServer(server, fake)
		vidscorev1.RegisterSubmissionServiceServer(server, fake)
	})
	quick := Retry{Initial: 1e6, Maximum: 20e6}
	return fake, fake.wire.connect(t, WithRetry(quick))
}

func (fake *fakeSubmissions) GetBenchmark(context.Context, *vidscorev1.GetBenchmarkRequest) (*vidscorev1.GetBenchmarkResponse, error) {
	return &vidscorev1.GetBenchmarkResponse{Benchmark: &vidscorev1.Benchmark{
		Name: "benchmarks/streets", DetectionGeometry: fake.geometry,
	}}, nil
}

func (fake *fakeSubmissions) CreateSubmission(_ context.Context, request *vidscorev1.CreateSubmissionRequest) (*vidscorev1.CreateSubmissionResponse, error) {
	fake.lock.Lock()
	defer fake.lock.Unlock()
	fake.creations++
	if fake.creation != nil {
		return nil, fake.creation
	}
	fake.state = vidscorev1.SubmissionState_SUBMISSION_STATE_OPEN
	return &vidscorev1.CreateSubmissionResponse{Submission: fake.submission()}, nil
}

func (fake *fakeSubmissions) GetSubmission(_ context.Context, request *vidscorev1.GetSubmissionRequest) (*vidscorev1.GetSubmissionResponse, error) {
	fake.lock.Lock()
	defer fake.lock.Unlock()
	if fake.state == vidscorev1.SubmissionState_SUBMISSION_STATE_UNSPECIFIED || request.Name != submissionRun {
		return nil, refusal(codes.NotFound, "NOT_FOUND", nil)
	}
	return &vidscorev1.GetSubmissionResponse{Submission: fake.submission()}, nil
}

func (fake *fakeSubmissions) OpenStream(context.Context, *vidscorev1.OpenStreamRequest) (*vidscorev1.OpenStreamResponse, error) {
	fake.lock.Lock()
	defer fake.lock.Unlock()
	fake.epoch++
	return &vidscorev1.OpenStreamResponse{Stream: fake.stream(), Limits: fake.limits}, nil
}

func (fake *fakeSubmissions) AppendFrames(call vidscorev1.SubmissionService_AppendFramesServer) error {
	for {
		request, err := call.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		nextOffset, err := fake.append(call.Context(), request)
		if err != nil {
			return err
		}
		if err := call.Send(&vidscorev1.AppendResponse{NextOffset: nextOffset}); err != nil {
			return err
		}
	}
}

func (fake *fakeSubmissions) AppendBatch(ctx context.Context, request *vidscorev1.AppendRequest) (*vidscorev1.AppendResponse, error) {
	nextOffset, err := fake.append(ctx, request)
	return &vidscorev1.AppendResponse{NextOffset: nextOffset}, err
}

func (fake *fakeSubmissions) SealSubmission(_ context.Context, request *vidscorev1.SealSubmissionRequest) (*vidscorev1.SealSubmissionResponse, error) {
	if err := fake.happen(&fake.sealings); err != nil {
		return nil, err
	}
	fake.lock.Lock()
	defer fake.lock.Unlock()
	fake.expected = request.ExpectedFrameCount
	if request.ExpectedFrameCount != nil && *request.ExpectedFrameCount != int64(len(fake.stored)) {
		return nil, refusal(codes.FailedPrecondition, "FRAME_COUNT_DIFFERS", nil)
	}
	fake.state = vidscorev1.SubmissionState_SUBMISSION_STATE_SEALED
	return &vidscorev1.SealSubmissionResponse{Submission: fake.submission()}, nil
}

func (fake *fakeSubmissions) WatchSubmission(request *vidscorev1.WatchSubmissionRequest, call vidscorev1.SubmissionService_WatchSubmissionServer) error {
	fake.lock.Lock()
	fake.revisions = append(fake.revisions, request.FromRevision)
	fake.lock.Unlock()
	for {
		fake.lock.Lock()
		if len(fake.watchScript) == 0 {
			fake.lock.Unlock()
			<-call.Context().Done()
			return call.Context().Err()
		}
		next := fake.watchScript[0]
		fake.watchScript = fake.watchScript[1:]
		fake.lock.Unlock()
		if next == nil {
			return refusal(codes.Unavailable, "", nil)
		}
		if err := call.Send(next); err != nil {
			return err
		}
	}
}

// append follows the offset protocol.
func (fake *fakeSubmissions) append(ctx context.Context, append *vidscorev1.AppendRequest) (int64, error) {
	fake.lock.Lock()
	hold := fake.hold
	fake.lock.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	fake.lock.Lock()
	fake.offsets = slices.Insert(fake.offsets, len(fake.offsets), append.Offset)
	fake.lock.Unlock()
	if err := fake.happen(&fake.before); err != nil {
		return 0, err
	}
	nextOffset, err := fake.store(append)
	return nextOffset, errors.Join(err, fake.happenAfter(err))
}

func (fake *fakeSubmissions) happenAfter(err error) error {
	if err != nil {
		return nil
	}
	return fake.happen(&fake.after)
}

func (fake *fakeSubmissions) store(append *vidscorev1.AppendRequest) (int64, error) {
	fake.lock.Lock()
	defer fake.lock.Unlock()
	stored := int64(len(fake.stored))
	facts := map[string]string{"next_offset": strconv.FormatInt(stored, 10)}
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(append.Detections)
	count := int64(len(append.Detections.FrameNumbers))
	switch {
	case err != nil:
		return 0, err
	case append.DetectionsCrc32 == nil || *append.DetectionsCrc32 != crc32.ChecksumIEEE(content):
		return 0, refusal(codes.InvalidArgument, "CONTENT_DAMAGED", nil)
	case append.Stream != submissionRun+"/streams/default":
		return 0, refusal(codes.NotFound, "NOT_FOUND", nil)
	case append.Epoch != fake.epoch:
		return 0, refusal(codes.Aborted, "EPOCH_STALE", nil)
	case append.Offset > stored:
		return 0, refusal(codes.OutOfRange, "OFFSET_GAP", facts)
	case append.Offset < stored && append.Offset+count > stored:
		return 0, refusal(codes.OutOfRange, "OFFSET_STRADDLES", facts)
	case append.Offset < stored && !slices.Equal(fake.contents[append.Offset], content):
		return 0, refusal(codes.AlreadyExists, "CONTENT_DIFFERS", facts)
	case append.Offset == stored:
		fake.contents[stored] = content
		for _, number := range append.Detections.FrameNumbers {
			fake.stored = slices.Insert(fake.stored, len(fake.stored), int(number))
		}
	}
	return int64(len(fake.stored)), nil
}

// happen lets the next fault happen, if there is one.
func (fake *fakeSubmissions) happen(faults *[]fault) error {
	fake.lock.Lock()
	var next fault
	if len(*faults) > 0 {
		next, *faults = (*faults)[0], (*faults)[1:]
	}
	fake.lock.Unlock()
	if next == nil {
		return nil
	}
	return next()
}

func (fake *fakeSubmissions) submission() *vidscorev1.Submission {
	message := &vidscorev1.Submission{Name: submissionRun, State: fake.state, FrameCount: int64(len(fake.stored)), Revision: 7}
	if fake.epoch > 0 {
		message.Streams = []*vidscorev1.StreamInfo{fake.stream()}
	}
	return message
}

func (fake *fakeSubmissions) stream() *vidscorev1.StreamInfo {
	return &vidscorev1.StreamInfo{Stream: "default", Epoch: fake.epoch, NextOffset: int64(len(fake.stored))}
}

// expectStored checks that the frames from 0 on are stored once and in order.
func (fake *fakeSubmissions) expectStored(t *testing.T, count int) {
	t.Helper()
	fake.lock.Lock()
	defer fake.lock.Unlock()
	if fmt.Sprint(fake.stored) != fmt.Sprint(upTo(count)) {
		t.Errorf("stored %v, expected 0 to %d", fake.stored, count-1)
	}
}

// cutting cuts every connection.
func (fake *fakeSubmissions) cutting() error {
	fake.wire.cut()
	return nil
}

func refusing(code codes.Code, reason string) fault {
	return func() error { return refusal(code, reason, nil) }
}

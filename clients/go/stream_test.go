package vidscore

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// fakeScoring is a server that sends a report for each detection, and the number of received frames
// as the final one.
type fakeScoring struct {
	vidscorev1.UnimplementedScoringServiceServer

	version string // of the server

	lock       sync.Mutex
	refuse     error  // instead of accepting the configuration
	silent     bool   // whether the configuration is never answered
	unfinished bool   // whether the call ends without a final report
	afterFrame fault  // happens before the answer to each message of frames
	truth      []int  // numbers of the frames that came
	detections []int  // likewise
	batches    int    // messages of frames
	received   string // title of the configuration
}

func serveScoring(t *testing.T) (*fakeScoring, *Client) {
	t.Helper()
	checkGoroutines(t)
	fake := &fakeScoring{version: Version}
	wire := serve(t, func(server *grpc.Server) { vidscorev1.RegisterScoringServiceServer(server, fake) })
	return fake, wire.connect(t)
}

func (fake *fakeScoring) Score(call vidscorev1.ScoringService_ScoreServer) error {
	request, err := call.Recv()
	if err != nil {
		return err
	}
	if fake.refuse != nil {
		return fake.refuse
	}
	if fake.silent {
		<-call.Context().Done()
		return call.Context().Err()
	}
	fake.lock.Lock()
	fake.received = request.GetConfiguration().GetSpecification().GetTitle()
	fake.lock.Unlock()
	started := &vidscorev1.ScoreStarted{ServerVersion: fake.version, Limits: map[string]int64{"maximum_batch_frames": 5}}
	err = call.Send(&vidscorev1.ScoreResponse{Message: &vidscorev1.ScoreResponse_Started{Started: started}})
	for err == nil {
		if request, err = call.Recv(); err == nil {
			err = fake.take(call, request)
		}
	}
	if !errors.Is(err, io.EOF) || fake.unfinished {
		return errors.Join(err, nil)
	}
	final := &vidscorev1.FinalReport{Reports: []*vidscorev1.Report{fake.report()}}
	return call.Send(&vidscorev1.ScoreResponse{Message: &vidscorev1.ScoreResponse_Final{Final: final}})
}

func (fake *fakeScoring) take(call vidscorev1.ScoringService_ScoreServer, request *vidscorev1.ScoreRequest) error {
	fake.lock.Lock()
	defer fake.lock.Unlock()
	fake.batches++
	fake.truth = appendNumbers(fake.truth, request.GetTruth())
	fake.detections = appendNumbers(fake.detections, request.GetDetections())
	if fake.afterFrame != nil {
		if err := fake.afterFrame(); err != nil {
			return err
		}
	}
	if request.GetDetections() == nil {
		return nil
	}
	live := &vidscorev1.LiveReport{Coverage: &vidscorev1.Coverage{PairedFrames: int64(len(fake.detections))}}
	return call.Send(&vidscorev1.ScoreResponse{Message: &vidscorev1.ScoreResponse_Live{Live: live}})
}

func appendNumbers(known []int, batch *vidscorev1.AnnotationBatch) []int {
	for _, number := range batch.GetFrameNumbers() {
		known = append(known, int(number))
	}
	return known
}

func (fake *fakeScoring) report() *vidscorev1.Report {
	all := int64(len(fake.truth) + len(fake.detections))
	return &vidscorev1.Report{Evaluator: "fake", Scores: []*vidscorev1.Score{
		{Measure: "frames", Value: &vidscorev1.Value{Kind: &vidscorev1.Value_Count{Count: all}}},
		{Measure: "half", Value: &vidscorev1.Value{Kind: &vidscorev1.Value_Number{Number: 0.5}}},
		{Measure: "nothing", Value: &vidscorev1.Value{}},
	}}
}

var byFake = ScoreOptions{Evaluators: []Evaluator{{Name: "fake"}}}

func open(t *testing.T, client *Client, options ScoreOptions) *ScoreStream {
	t.Helper()
	stream, err := client.ScoreStream(testContext(t), options)
	must(t, err)
	t.Cleanup(func() { must(t, stream.Close()) })
	return stream
}

// Frames come in their order, in messages of at most the server's size, and the final report has a
// count, a number and an undefined score.
func TestScoreStream(t *testing.T) {
	fake, client := serveScoring(t)
	stream := open(t, client, byFake)
	equal(t, stream.ServerVersion(), Version)
	equal(t, stream.Limits()["maximum_batch_frames"], 5)
	for number := range 12 {
		must(t, stream.SendTruth(testContext(t), box(number)))
		must(t, stream.Send(testContext(t), box(number)))
	}
	must(t, stream.SendBatch(testContext(t), Detections, boxes(12, 20)))
	reports, err := stream.Finish(testContext(t))
	must(t, err)
	for measure, expected := range map[string]Value{"frames": CountValue(32), "half": NumberValue(0.5), "nothing": {}} {
		value, known := reports[0].Value(measure, Of{})
		equal(t, known, true)
		equal(t, value, expected)
	}
	_, known := reports[0].Value("frames", Of{Domain: "elsewhere"})
	equal(t, known, false)
	if !slices.Equal(fake.truth, upTo(12)) || !slices.Equal(fake.detections, upTo(20)) {
		t.Errorf("truth %v, detections %v", fake.truth, fake.detections)
	}
	if fake.batches < 7 {
		t.Errorf("%d messages of at most 5 frames for 32 frames", fake.batches)
	}
	isKind(t, stream.Send(testContext(t), box(20)), ErrClosed)
}

// Score sends both sides and gives the final reports.
func TestScoreAtOnce(t *testing.T) {
	fake, client := serveScoring(t)
	options := byFake
	options.Specification = &vidscorev1.BenchmarkSpec{Title: "streets"}
	reports, err := client.Score(testContext(t), boxes(0, 700), boxes(0, 300), options)
	must(t, err)
	value, _ := reports[0].Value("frames", Of{})
	equal(t, value, CountValue(1000))
	equal(t, fake.received, "streets")
}

// Live reports come to the callback and to readers; the newest is kept, and old ones are dropped.
func TestLiveReports(t *testing.T) {
	_, client := serveScoring(t)
	var told []int64
	options := byFake
	options.Batching.BatchFrames = 1
	options.Live = &Live{EveryFrames: 1, KeepReports: 3, OnReport: func(report *LiveReport) error {
		told = append(told, report.Coverage.PairedFrames)
		return nil
	}}
	stream := open(t, client, options)
	must(t, stream.SendBatch(testContext(t), Detections, boxes(0, 2)))
	for report, err := range stream.LiveReports(testContext(t)) {
		must(t, err)
		if report.Coverage.PairedFrames == 2 {
			break
		}
	}
	must(t, stream.SendBatch(testContext(t), Detections, boxes(2, 10)))
	_, err := stream.Finish(testContext(t))
	must(t, err)
	var read []int64
	for report, err := range stream.LiveReports(testContext(t)) {
		must(t, err)
		read = append(read, report.Coverage.PairedFrames)
	}
	if !slices.IsSorted(told) || told[len(told)-1] != 10 || len(told) > 10 {
		t.Errorf("told %v", told)
	}
	if !slices.Equal(read, told[len(told)-3:]) {
		t.Errorf("read %v of %v", read, told)
	}
	equal(t, stream.Latest().Coverage.PairedFrames, 10)
}

// A refusal of the server is reported at opening, at the next call, and by Finish.
func TestRefusals(t *testing.T) {
	fake, client := serveScoring(t)
	fake.refuse = refusal(codes.InvalidArgument, "INVALID_FIELD", nil)
	_, err := client.ScoreStream(testContext(t), byFake)
	equal(t, isKind(t, err, ErrInvalidArgument).Reason, "INVALID_FIELD")
	fake.refuse = nil
	fake.afterFrame = refusing(codes.ResourceExhausted, "LIMIT_EXCEEDED")
	stream := open(t, client, byFake)
	must(t, stream.SendBatch(testContext(t), Truth, boxes(0, 1)))
	_, err = stream.Finish(testContext(t))
	isKind(t, err, ErrLimitExceeded)
	isKind(t, stream.Send(testContext(t), box(1)), ErrLimitExceeded)
	for _, err := range stream.LiveReports(testContext(t)) {
		isKind(t, err, ErrLimitExceeded)
	}
}

// The client does not wait for a server that never accepts, has another version, or never sends a
// report.
func TestServersThatSayTooLittle(t *testing.T) {
	checkGoroutines(t)
	silent := serve(t, func(server *grpc.Server) {
		vidscorev1.RegisterScoringServiceServer(server, &fakeScoring{silent: true})
	})
	_, err := silent.connect(t, WithTimeout(20e6)).ScoreStream(testContext(t), byFake)
	isKind(t, err, ErrDeadline)
	fake, client := serveScoring(t)
	fake.version = "9.0.0"
	_, err = client.ScoreStream(testContext(t), byFake)
	equal(t, isKind(t, err, ErrVersion).Metadata["server_version"], "9.0.0")
	fake, client = serveScoring(t)
	fake.unfinished = true
	_, err = open(t, client, byFake).Finish(testContext(t))
	isKind(t, err, ErrInternal)
}

// A stream ends with its context, when it is closed, and after a failed callback.
func TestEndsOfStreams(t *testing.T) {
	_, client := serveScoring(t)
	ctx, cancel := context.WithCancel(testContext(t))
	stream, err := client.ScoreStream(ctx, byFake)
	must(t, err)
	cancel()
	_, err = stream.Finish(testContext(t))
	isKind(t, err, ErrCallCancelled)
	equal(t, errors.Is(err, context.Canceled), true)
	must(t, stream.Close())

	stream = open(t, client, byFake)
	must(t, stream.Close())
	isKind(t, stream.Send(testContext(t), box(0)), ErrCallCancelled)

	mistake := errors.New("mistake")
	options := byFake
	options.Live = &Live{EveryFrames: 1, OnReport: func(*LiveReport) error { return mistake }}
	stream = open(t, client, options)
	must(t, stream.SendBatch(testContext(t), Detections, boxes(0, 1)))
	waitUntil(t, "the failure", func() bool { return stream.Send(testContext(t), box(1)) != nil })
	err = stream.Send(testContext(t), box(1))
	isKind(t, err, ErrCallback)
	equal(t, errors.Is(err, mistake), true)
}

// A callback cannot wait for the end of its own stream.
func TestACallbackCannotFinish(t *testing.T) {
	_, client := serveScoring(t)
	var stream *ScoreStream
	ready := make(chan struct{})
	refused := make(chan error, 1)
	options := byFake
	options.Live = &Live{EveryFrames: 1, OnReport: func(*LiveReport) error {
		<-ready
		_, err := stream.Finish(testContext(t))
		refused <- err
		return nil
	}}
	stream = open(t, client, options)
	close(ready)
	must(t, stream.SendBatch(testContext(t), Detections, boxes(0, 1)))
	isKind(t, <-refused, ErrCallback)
	_, err := stream.Finish(testContext(t))
	must(t, err)
}

// A Finish whose context is done leaves the stream as it is.
func TestFinishMayBeCalledAgain(t *testing.T) {
	fake, client := serveScoring(t)
	hold := make(chan struct{})
	fake.afterFrame = func() error { <-hold; return nil }
	stream := open(t, client, byFake)
	must(t, stream.SendBatch(testContext(t), Truth, boxes(0, 1)))
	done, cancel := context.WithCancel(testContext(t))
	cancel()
	_, err := stream.Finish(done)
	isKind(t, err, ErrCallCancelled)
	close(hold)
	_, err = stream.Finish(testContext(t))
	must(t, err)
}

// Wrong options and frames are refused before anything is sent.
func TestInputIsChecked(t *testing.T) {
	_, client := serveScoring(t)
	for _, options := range []ScoreOptions{
		{},
		{Evaluators: []Evaluator{{Name: "\xff"}}},
		{Evaluators: []Evaluator{{Name: "f1", Parameters: Parameters{{"tau", 3 + 2i}}}}},
		{Evaluators: byFake.Evaluators, TruthGeometry: 9},
		{Evaluators: byFake.Evaluators, Live: &Live{}},
		{Evaluators: byFake.Evaluators, Batching: Batching{BatchFrames: -1}},
	} {
		_, err := client.ScoreStream(testContext(t), options)
		isKind(t, err, ErrInput)
	}
	stream := open(t, client, byFake)
	for _, frame := range []Frame{
		{Coordinates: []float64{1, 2, 3}},
		{Sequence: "\xff"},
		{Labels: []string{"car"}},
		{Coordinates: []float64{1, 2, 3, 4}, Labels: []string{"\xff"}},
		{Coordinates: []float64{1, 2, 3, 4}, Confidences: []float64{1, 1}},
		{Coordinates: []float64{1, 2, 3, 4}, TrackIDs: []int64{}},
		{Coordinates: []float64{1, 2, 3, 4}, Flags: []ObjectFlag{0, 0}},
		{Coordinates: []float64{1, 2, 3, 4}, Columns: map[string][]float64{"area": nil}},
	} {
		isKind(t, stream.Send(testContext(t), frame), ErrInput)
	}
	isKind(t, stream.SendBatch(testContext(t), 2, nil), ErrInput)
}

package vidscore

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// fakeLists is a server that lists in pages of one, and records its requests.
type fakeLists struct {
	vidscorev1.UnimplementedEvaluatorServiceServer
	vidscorev1.UnimplementedBenchmarkServiceServer
	vidscorev1.UnimplementedServerServiceServer
	headers metadata.MD
	version string // of the server
}

func (fake *fakeLists) ListEvaluators(ctx context.Context, request *vidscorev1.ListEvaluatorsRequest) (*vidscorev1.ListEvaluatorsResponse, error) {
	fake.headers, _ = metadata.FromIncomingContext(ctx)
	if err := grpc.SetTrailer(ctx, metadata.Pairs(serverVersionKey, fake.version)); err != nil {
		return nil, err
	}
	if request.PageToken == "" {
		return &vidscorev1.ListEvaluatorsResponse{
			Evaluators: []*vidscorev1.Evaluator{{
				Name: "evaluators/f1", Measures: []*vidscorev1.Measure{{Name: "f1", Direction: vidscorev1.Direction_DIRECTION_HIGHER}},
				TruthGeometries: []vidscorev1.Geometry{vidscorev1.Geometry_GEOMETRY_BOX, 99},
			}},
			NextPageToken: "more",
		}, nil
	}
	return &vidscorev1.ListEvaluatorsResponse{Evaluators: []*vidscorev1.Evaluator{{Name: "evaluators/spotgeo"}}}, nil
}

func (fake *fakeLists) GetLeaderboard(_ context.Context, request *vidscorev1.GetLeaderboardRequest) (*vidscorev1.GetLeaderboardResponse, error) {
	value := 0.5
	if request.PageToken == "" {
		return &vidscorev1.GetLeaderboardResponse{NextPageToken: "more", Rows: []*vidscorev1.LeaderboardRow{
			{Rank: 1, Team: "falcon", Scores: []*vidscorev1.LeaderboardScore{{Measure: "f1", Value: &value}}},
		}}, nil
	}
	return &vidscorev1.GetLeaderboardResponse{Ranking: []string{"f1"}, Rows: []*vidscorev1.LeaderboardRow{
		{Rank: 2, Team: "owl", Scores: []*vidscorev1.LeaderboardScore{{Measure: "f1"}}},
	}}, nil
}

func (fake *fakeLists) GetServer(context.Context, *vidscorev1.GetServerRequest) (*vidscorev1.GetServerResponse, error) {
	return &vidscorev1.GetServerResponse{Server: &vidscorev1.Server{
		Version: "0.1.0", OldestClientVersion: "0.0", NewestClientVersion: "0.2", Hosting: true,
		Time: &timestamppb.Timestamp{Seconds: 60},
	}}, nil
}

func serveLists(t *testing.T) (*fakeLists, *wire) {
	t.Helper()
	fake := &fakeLists{version: Version}
	return fake, serve(t, func(server *grpc.Server) {
		vidscorev1.RegisterEvaluatorServiceServer(server, fake)
		vidscorev1.RegisterBenchmarkServiceServer(server, fake)
		vidscorev1.RegisterServerServiceServer(server, fake)
		grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	})
}

// Lists are read page by page, shapes that cannot be sent are left out, and the token and the
// client's name go with each call.
func TestLists(t *testing.T) {
	fake, wire := serveLists(t)
	client := wire.connect(t, WithToken("secret"))
	evaluators, err := client.Evaluators(testContext(t))
	must(t, err)
	equal(t, len(evaluators), 2)
	equal(t, evaluators[0].Name, "f1")
	equal(t, evaluators[0].Measures[0].Direction, Higher)
	equal(t, len(evaluators[0].TruthGeometries), 1)
	equal(t, fake.headers.Get("authorization")[0], "Bearer secret")
	equal(t, fake.headers.Get("vidscore-client-version")[0], Version)
	equal(t, strings.HasPrefix(fake.headers.Get("user-agent")[0], "vidscore-go/"+Version), true)
	board, err := client.Leaderboard(testContext(t), "streets", LeaderboardOptions{})
	must(t, err)
	equal(t, *board.Rows[0].Scores["f1"], 0.5)
	equal(t, board.Rows[1].Scores["f1"], nil)
	equal(t, board.Ranking[0], "f1")
}

// A server of a version too far away is refused; a text that is not a version is accepted.
func TestVersions(t *testing.T) {
	fake, wire := serveLists(t)
	fake.version = "9.0.0"
	_, err := wire.connect(t).Evaluators(testContext(t))
	failure := isKind(t, err, ErrVersion)
	equal(t, failure.Reason, "VERSION_UNSUPPORTED")
	equal(t, strings.HasSuffix(failure.Message, "update vidscore-client"), true)
	equal(t, errors.Is(err, ErrConflict), true)
	for server, refused := range map[string]bool{
		"0.0.9": false, "0.1.7": false, "0.2.0-rc1": false, "unknown": false, "": false, "1.2": true, "0.3.0": true,
	} {
		equal(t, checkServer(server, "0.1.0") != nil, refused)
	}
	equal(t, checkServer("2.1.0", "2.3.0") != nil, true)
	equal(t, checkServer("0.9.0", "1.0.0") != nil, true)
}

// Health follows the standard protocol, a server describes itself, and a missing call has its own
// error.
func TestHealthAndMissingCalls(t *testing.T) {
	_, wire := serveLists(t)
	client := wire.connect(t)
	health, err := client.Health(testContext(t), "")
	must(t, err)
	equal(t, health, Serving)
	server, err := client.Server(testContext(t))
	must(t, err)
	equal(t, *server, ServerInfo{"0.1.0", "0.0", "0.2", time.Unix(60, 0).UTC(), true, false})
	_, err = client.Health(testContext(t), "nobody")
	isKind(t, err, ErrNotFound)
	_, err = client.Evaluator(testContext(t), "f1")
	isKind(t, err, ErrUnsupported)
	must(t, client.Close())
	must(t, client.Close())
	_, err = client.Evaluators(testContext(t))
	isKind(t, err, ErrClosed)
}

// A silent machine that accepts connections does not block a call beyond its timeout.
func TestASilentMachine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	client, err := Connect(listener.Addr().String(), WithTimeout(50*time.Millisecond))
	must(t, err)
	defer client.Abort()
	begin := time.Now()
	_, err = client.ScoreStream(testContext(t), byFake)
	isKind(t, err, ErrDeadline)
	if waited := time.Since(begin); waited > 5*time.Second {
		t.Errorf("waited for %v", waited)
	}
}

// Wrong addresses, times, tokens and certificates are refused, and a token is never sent
// unencrypted to another machine unless that is allowed.
func TestConnectChecksItsSettings(t *testing.T) {
	folder := t.TempDir()
	noCertificate := filepath.Join(folder, "empty.pem")
	must(t, os.WriteFile(noCertificate, nil, 0o600))
	wrong := map[string][]Option{
		"":                    nil,
		"localhost":           nil,
		"local host:1":        nil,
		"localhost:99999":     nil,
		"example.org:1":       {WithToken("secret")},
		"localhost:1":         {WithToken("")},
		"localhost:2":         {WithToken("sec ret")},
		"localhost:3":         {WithTimeout(0)},
		"localhost:4":         {WithTLS(TLS{RootCertificates: filepath.Join(folder, "absent.pem")})},
		"localhost:5":         {WithTLS(TLS{RootCertificates: noCertificate})},
		"localhost:6":         {WithTLS(TLS{Certificate: noCertificate})},
		"localhost:7":         {WithTLS(TLS{Certificate: noCertificate, PrivateKey: noCertificate})},
		"localhost:8":         {WithRetry(Retry{Initial: -1})},
		"localhost:9":         {WithKeepalive(Keepalive{Interval: 9 * time.Second})},
		"localhost:10":        {WithKeepalive(Keepalive{Timeout: -1})},
		"dns:///example.org:": nil,
	}
	for target, options := range wrong {
		_, err := Connect(target, options...)
		failure := isKind(t, err, ErrInput)
		equal(t, strings.Contains(failure.Error(), "sec"), false)
	}
	right := map[string][]Option{
		"localhost:50051":           {WithToken("secret")},
		"127.0.0.1:50051":           {WithToken("secret")},
		"[::1]:50051":               {WithToken("secret")},
		"unix:/tmp/socket":          {WithToken("secret")},
		"dns:///example.org:443":    {WithToken("secret"), WithTLS(TLS{})},
		"example.org:50051":         {WithToken("secret"), WithPlaintextToken()},
		"other.example.org:50051":   nil,
		"dns://8.8.8.8/example:443": nil,
	}
	for target, options := range right {
		client, err := Connect(target, options...)
		must(t, err)
		must(t, client.Close())
	}
}

// Names are accepted in short or in full.
func TestResourceNames(t *testing.T) {
	for _, name := range []string{"streets/run", "benchmarks/streets/submissions/run"} {
		full, err := submissionName(name)
		must(t, err)
		equal(t, full, "benchmarks/streets/submissions/run")
	}
	for _, name := range []string{"", "streets", "streets/", "a/b/c", "benchmarks/a/tokens/b"} {
		_, err := submissionName(name)
		isKind(t, err, ErrInput)
	}
}

// An error carries all details from the server: reason, violations and their number, metadata.
func TestErrorsKeepWhatTheServerSaid(t *testing.T) {
	answer, err := status.New(codes.InvalidArgument, "two things are wrong").WithDetails(
		&errdetails.ErrorInfo{Domain: "elsewhere", Reason: "OTHER"},
		&errdetails.ErrorInfo{Domain: errorDomain, Reason: "INVALID_FIELD", Metadata: map[string]string{"violations": "3"}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "truth.coordinates[3]", Description: "found nan"}, {Description: "nothing fits"},
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)},
	)
	must(t, err)
	failure := fromStatus(answer.Err())
	equal(t, failure.Kind, ErrInvalidArgument)
	equal(t, failure.Code, "INVALID_ARGUMENT")
	equal(t, failure.Reason, "INVALID_FIELD")
	equal(t, failure.ViolationCount, 3)
	equal(t, failure.RetryDelay, 1500*time.Millisecond)
	equal(t, failure.Error(), "two things are wrong\n  truth.coordinates[3]: found nan\n  nothing fits\n  ... and 1 more")
	equal(t, failure.Retryable(), false)
	equal(t, status.Code(errors.Unwrap(failure)), codes.InvalidArgument)
	plain := fromStatus(status.Error(codes.Unavailable, ""))
	equal(t, plain.Error(), "the call ended with UNAVAILABLE")
	equal(t, plain.Reason, "UNAVAILABLE")
	equal(t, plain.Retryable(), true)
}

// A message that gRPC itself has refused breaks the server's limit.
func TestAMessageThatGRPCRefusesBreaksALimit(t *testing.T) {
	refused := status.Error(codes.ResourceExhausted, "SERVER: Received message larger than max (1280028 vs. 1114112)")
	failure := fromStatus(refused)
	isKind(t, failure, ErrLimitExceeded)
	equal(t, failure.Error(), "a message of 1280028 bytes; the server accepts at most 1114112: "+
		"send less at once, or raise its limit maximum_message_bytes")
	equal(t, failure.Reason, "LIMIT_EXCEEDED")
	equal(t, failure.Metadata["limit"], "maximum_message_bytes")
	equal(t, failure.Metadata["maximum"], "1114112")
	own := fromStatus(status.Error(codes.ResourceExhausted, "CLIENT: Received message larger than max (9 vs. 8)"))
	equal(t, own.Reason, "RESOURCE_EXHAUSTED")
}

// A call that nobody here cancelled was cut by a server that stops.
func TestACallThatNobodyCancelledIsUnavailable(t *testing.T) {
	done, cancel := context.WithCancel(testContext(t))
	cancel()
	cut := status.Error(codes.Canceled, "CANCELLED")
	failure := fromCall(cut, testContext(t))
	isKind(t, failure, ErrUnavailable)
	equal(t, failure.Code, "UNAVAILABLE")
	equal(t, failure.Retryable(), true)
	isKind(t, fromCall(cut, testContext(t), done), ErrCallCancelled)
}

// Columns of defaults are left out, names are numbered in the order in which they appear, and
// further columns keep their names.
func TestEncoding(t *testing.T) {
	plain := encodeItems(items(box(3), Frame{Domain: "d", Sequence: "b", Number: 4}), 4)
	expectMessage(t, plain, `{"sequences":[{"sequence":"a"},{"domain":"d","sequence":"b"}],
		"frameSequences":[0,1],"frameNumbers":["3","4"],"frameObjectCounts":[1,0],
		"geometry":"GEOMETRY_BOX","coordinates":[1,2,3,4]}`)
	rich := Frame{
		Sequence: "a", DontCare: true, Coordinates: []float64{1, 2, 3, 4, 5, 6, 7, 8},
		Labels: []string{"car", ""}, Confidences: []float64{1, 0.5}, TrackIDs: []int64{-1, 9},
		Flags: []ObjectFlag{0, Crowd | Ignore}, Columns: map[string][]float64{"b": {1, 2}, "a": {3, 4}},
	}
	expectMessage(t, encodeItems(items(rich), 4), `{"sequences":[{"sequence":"a"}],"labels":["car",""],
		"frameSequences":[0],"frameNumbers":["0"],"frameObjectCounts":[2],"frameFlags":[1],
		"geometry":"GEOMETRY_BOX","coordinates":[1,2,3,4,5,6,7,8],"labelIndices":[0,1],
		"confidences":[1,0.5],"trackIds":["-1","9"],"objectFlags":[0,3],
		"columns":[{"name":"a","values":[3,4]},{"name":"b","values":[1,2]}]}`)
	time := 1.5
	timed := Frame{Sequence: "a", Number: 1, TimeS: &time}
	expectMessage(t, encodeItems(items(Frame{Sequence: "a"}, timed), 4), `{"sequences":[{"sequence":"a"}],
		"frameSequences":[0,0],"frameNumbers":["0","1"],"frameObjectCounts":[0,0],
		"geometry":"GEOMETRY_BOX","frameTimesS":["NaN",1.5]}`)
}

func expectMessage(t *testing.T, found *vidscorev1.AnnotationBatch, expected string) {
	t.Helper()
	wanted := &vidscorev1.AnnotationBatch{}
	must(t, protojson.Unmarshal([]byte(expected), wanted))
	equal(t, found.String(), wanted.String())
}

// A caller may reuse its slices as soon as a frame is queued.
func TestFramesAreCopied(t *testing.T) {
	frame := box(0)
	kept := items(frame)
	frame.Coordinates[0] = 99
	equal(t, kept[0].Coordinates[0], 1)
}

// Kinds of values differ, and values print as the shortest text that reads back.
func TestValues(t *testing.T) {
	for expected, value := range map[string]Value{"3": CountValue(3), "0.1": NumberValue(0.1), "undefined": {}} {
		equal(t, value.String(), expected)
	}
	_, counted := NumberValue(3).Count()
	equal(t, counted, false)
	number, defined := CountValue(3).Float64()
	equal(t, number, 3)
	equal(t, defined, true)
}

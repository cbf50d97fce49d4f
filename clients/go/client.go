package vidscore

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	vidscorev1 "github.com/vidscore/vidscore/clients/go/vidscore/v1"
)

// Health is whether a server accepts calls, by the standard health protocol.
type Health string

// The states of a service.
const (
	HealthUnknown  Health = "unknown"
	Serving        Health = "serving"
	NotServing     Health = "not_serving"
	ServiceUnknown Health = "service_unknown"
)

var healthByNumber = map[grpc_health_v1.HealthCheckResponse_ServingStatus]Health{
	grpc_health_v1.HealthCheckResponse_SERVING:         Serving,
	grpc_health_v1.HealthCheckResponse_NOT_SERVING:     NotServing,
	grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN: ServiceUnknown,
}

// Client is a connection to a server; made by [Connect].
type Client struct {
	endpoint    *endpoint
	connection  *grpc.ClientConn
	evaluators  vidscorev1.EvaluatorServiceClient
	scoring     vidscorev1.ScoringServiceClient
	benchmarks  vidscorev1.BenchmarkServiceClient
	submissions vidscorev1.SubmissionServiceClient

	context context.Context // done when the client is closed
	close   context.CancelFunc
	streams sync.Map // the submission streams that are not closed
}

// Connect makes a client of a server at host:port, [address]:port or unix:path. The first call
// opens the connection. Connections to other machines use the proxies that the environment names
// (HTTPS_PROXY, NO_PROXY).
//
// Errors: [ErrInput] for an invalid setting, and if the token would be sent unencrypted to another
// machine.
func Connect(target string, options ...Option) (*Client, error) {
	endpoint, err := newEndpoint(target, options)
	if err != nil {
		return nil, err
	}
	dialOptions, err := endpoint.dialOptions()
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(endpoint.target, dialOptions...)
	if err != nil {
		return nil, asError(err, ErrInput)
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Client{
		endpoint:    endpoint,
		connection:  connection,
		evaluators:  vidscorev1.NewEvaluatorServiceClient(connection),
		scoring:     vidscorev1.NewScoringServiceClient(connection),
		benchmarks:  vidscorev1.NewBenchmarkServiceClient(connection),
		submissions: vidscorev1.NewSubmissionServiceClient(connection),
		context:     ctx,
		close:       cancel,
	}, nil
}

// Close closes all open streams and the connection. Streams into submissions deliver the frames
// that they have accepted, as their own Close does, and its errors are joined; streams that score
// end at once. Close may be called again.
func (client *Client) Close() error {
	var closing sync.WaitGroup
	var lock sync.Mutex
	var failures []error
	for stream := range client.streams.Range {
		open := stream.(*SubmissionStream)
		err := open.sender.refuseInCallback() // of this goroutine
		closing.Add(1)
		go func() {
			defer closing.Done()
			if err == nil {
				err = open.Close()
			}
			lock.Lock()
			defer lock.Unlock()
			failures = append(failures, err)
		}()
	}
	closing.Wait()
	client.Abort()
	return errors.Join(failures...)
}

// Abort ends all open streams at once, drops what is not delivered, and closes the connection.
func (client *Client) Abort() {
	for stream := range client.streams.Range {
		stream.(*SubmissionStream).Abort()
	}
	client.close()
	_ = client.connection.Close() // it fails only if the connection is closed already
}

// forget records that a stream is closed.
func (client *Client) forget(stream *SubmissionStream) { client.streams.Delete(stream) }

// Evaluators is all evaluators of the server, built-in ones first.
func (client *Client) Evaluators(ctx context.Context) ([]*EvaluatorDescription, error) {
	var found []*EvaluatorDescription
	err := eachPage(func(token string) (string, error) {
		request := &vidscorev1.ListEvaluatorsRequest{PageToken: token}
		response, err := unary(ctx, client, client.evaluators.ListEvaluators, request)
		for _, evaluator := range response.GetEvaluators() {
			found = append(found, decodeEvaluator(evaluator))
		}
		return response.GetNextPageToken(), err
	})
	return found, err
}

// Evaluator is one evaluator by name; [ErrNotFound] if the server has none of that name.
func (client *Client) Evaluator(ctx context.Context, name string) (*EvaluatorDescription, error) {
	request := &vidscorev1.GetEvaluatorRequest{Name: "evaluators/" + name}
	response, err := unary(ctx, client, client.evaluators.GetEvaluator, request)
	if err != nil {
		return nil, err
	}
	return decodeEvaluator(response.GetEvaluator()), nil
}

// Health tells whether the server accepts calls; service is the full name of one, or empty for the
// whole server. [ErrNotFound] if the server does not know the service.
func (client *Client) Health(ctx context.Context, service string) (Health, error) {
	check := grpc_health_v1.NewHealthClient(client.connection).Check
	response, err := unary(ctx, client, check, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return HealthUnknown, err
	}
	health, known := healthByNumber[response.GetStatus()]
	if !known {
		return HealthUnknown, nil
	}
	return health, nil
}

// ScoreStream opens a stream that takes truth and detections frame by frame. It must be closed. The
// stream ends when the context is done.
//
// Errors: [ErrInput] for an invalid option, [ErrInvalidArgument] if the server refuses the
// configuration, [ErrUnavailable] if it cannot be reached, [ErrDeadline] if it does not answer
// within the time of [WithTimeout].
func (client *Client) ScoreStream(ctx context.Context, options ScoreOptions) (*ScoreStream, error) {
	streamContext, cancel, err := client.streamContext(ctx)
	if err != nil {
		return nil, err
	}
	opening, opened := context.WithTimeout(context.Background(), client.endpoint.timeout)
	defer opened()
	inTime := context.AfterFunc(opening, cancel) // a call first waits for its connection
	stream, err := newScoreStream(streamContext, cancel, client.scoring, options)
	inTime()
	if err != nil {
		cancel()
		if opening.Err() != nil {
			err = notAccepted(opening)
		}
		return nil, err
	}
	if err := stream.awaitStart(opening); err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

// Score sends all frames and waits for the final reports: one for each evaluator, in the requested
// order.
func (client *Client) Score(ctx context.Context, truth, detections []Frame, options ScoreOptions) ([]*Report, error) {
	options.Batching.Policy, options.Batching.BlockTimeout = Block, Unlimited
	stream, err := client.ScoreStream(ctx, options)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	for side, frames := range inTurns(truth, detections) {
		if err := stream.SendBatch(ctx, side, frames); err != nil {
			return nil, err
		}
	}
	return stream.Finish(ctx)
}

// streamContext is done when the caller's context is done or the client is closed. Its cancel
// function must be called when the stream has ended.
func (client *Client) streamContext(ctx context.Context) (context.Context, context.CancelFunc, error) {
	if client.context.Err() != nil {
		return nil, nil, closedError("the client is closed")
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(client.context, cancel)
	return ctx, func() { stop(); cancel() }, nil
}

// eachPage asks for one page after the other, until a page has no token of the next one.
func eachPage(ask func(token string) (next string, err error)) error {
	for token := ""; ; {
		next, err := ask(token)
		if err != nil || next == "" {
			return err
		}
		token = next
	}
}

// unary makes a unary call.
func unary[Request, Response any](
	ctx context.Context, client *Client,
	method func(context.Context, *Request, ...grpc.CallOption) (*Response, error), request *Request,
) (*Response, error) {
	if client.context.Err() != nil {
		return nil, closedError("the client is closed")
	}
	ctx, cancel := context.WithTimeout(ctx, client.endpoint.timeout)
	defer cancel()
	response, err := method(ctx, request)
	if err != nil {
		return nil, fromCall(err, ctx, client.context)
	}
	return response, nil
}

// ServerInfo describes a server.
type ServerInfo struct {
	Version string
	// OldestClientVersion is the oldest client version that it works with.
	OldestClientVersion string
	// NewestClientVersion is the newest client version that it works with.
	NewestClientVersion string
	// Time is the time of its clock.
	Time time.Time
	// Hosting is whether it hosts benchmarks.
	Hosting bool
	// Draining is whether it is about to stop.
	Draining bool
}

// Server describes the server; it answers clients of any version.
func (client *Client) Server(ctx context.Context) (*ServerInfo, error) {
	servers := vidscorev1.NewServerServiceClient(client.connection)
	response, err := unary(ctx, client, servers.GetServer, &vidscorev1.GetServerRequest{})
	if err != nil {
		return nil, err
	}
	server := response.GetServer()
	return &ServerInfo{
		Version:             server.GetVersion(),
		OldestClientVersion: server.GetOldestClientVersion(),
		NewestClientVersion: server.GetNewestClientVersion(),
		Time:                decodeTime(server.GetTime()),
		Hosting:             server.GetHosting(),
		Draining:            server.GetDraining(),
	}, nil
}

package vidscore

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// waitLimit is the upper bound of each wait of a test; no test expects to wait that long.
const waitLimit = time.Minute

// wire is a server in this process, whose connections can be cut.
type wire struct {
	register func(*grpc.Server)

	lock        sync.Mutex
	listener    *bufconn.Listener
	server      *grpc.Server
	connections []net.Conn
}

// serve starts a server that ends with the test.
func serve(t *testing.T, register func(*grpc.Server)) *wire {
	t.Helper()
	server := &wire{register: register}
	server.start()
	t.Cleanup(server.stop)
	return server
}

func (wire *wire) start() {
	wire.lock.Lock()
	defer wire.lock.Unlock()
	wire.listener = bufconn.Listen(1 << 20)
	wire.server = grpc.NewServer(grpc.Creds(insecure.NewCredentials()))
	wire.register(wire.server)
	go func(server *grpc.Server, listener net.Listener) { _ = server.Serve(listener) }(wire.server, wire.listener)
}

// stop ends the server at once, and with it every call.
func (wire *wire) stop() {
	wire.lock.Lock()
	server := wire.server
	wire.lock.Unlock()
	server.Stop()
}

// cut breaks every connection.
func (wire *wire) cut() {
	wire.lock.Lock()
	defer wire.lock.Unlock()
	for _, connection := range wire.connections {
		_ = connection.Close()
	}
	wire.connections = nil
}

func (wire *wire) dial(ctx context.Context, _ string) (net.Conn, error) {
	wire.lock.Lock()
	listener := wire.listener
	wire.lock.Unlock()
	connection, err := listener.DialContext(ctx)
	if err == nil {
		wire.lock.Lock()
		wire.connections = append(wire.connections, connection)
		wire.lock.Unlock()
	}
	return connection, err
}

// connect makes a client of the server that is closed with the test.
func (wire *wire) connect(t *testing.T, options ...Option) *Client {
	t.Helper()
	options = append(options, WithDialOptions(grpc.WithContextDialer(wire.dial)))
	client, err := Connect("passthrough://bufconn/localhost:1", options...)
	must(t, err)
	t.Cleanup(func() { must(t, client.Close()) })
	return client
}

// testContext is done when a test takes too long.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

// checkGoroutines fails the test if goroutines of this package outlast it.
func checkGoroutines(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		limit := time.Now().Add(waitLimit)
		for own := ownGoroutines(); own != ""; own = ownGoroutines() {
			if time.Now().After(limit) {
				t.Fatalf("goroutines that have not ended:\n%s", own)
			}
			runtime.Gosched()
		}
	})
}

// ownGoroutines is the stacks of goroutines that senders and streams have started.
func ownGoroutines() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var own []string
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "vidscore.(*sender)") || strings.Contains(stack, "vidscore.(*ScoreStream)") {
			own = append(own, stack)
		}
	}
	return strings.Join(own, "\n\n")
}

// waitUntil waits for a condition that another goroutine fulfils.
func waitUntil(t *testing.T, what string, condition func() bool) {
	t.Helper()
	limit := time.Now().Add(waitLimit)
	for !condition() {
		if time.Now().After(limit) {
			t.Fatalf("%s did not come about", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// refusal is the error of a server, with its reason and metadata.
func refusal(code codes.Code, reason string, metadata map[string]string) error {
	information := &errdetails.ErrorInfo{Domain: errorDomain, Reason: reason, Metadata: metadata}
	answer, err := status.New(code, "refused").WithDetails(information)
	if err != nil {
		return err
	}
	return answer.Err()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[Value comparable](t *testing.T, found, expected Value) {
	t.Helper()
	if found != expected {
		t.Errorf("found %v, expected %v", found, expected)
	}
}

func isKind(t *testing.T, err error, kind Kind) *Error {
	t.Helper()
	var failure *Error
	if !errors.As(err, &failure) || failure.Kind != kind {
		t.Fatalf("found error %v, expected one of kind %s", err, kind)
	}
	return failure
}

// box is a frame of sequence "a" with one box.
func box(number int) Frame {
	return Frame{Sequence: "a", Number: int64(number), Coordinates: []float64{1, 2, 3, 4}}
}

func boxes(first, end int) []Frame {
	var frames []Frame
	for number := first; number < end; number++ {
		frames = append(frames, box(number))
	}
	return frames
}

func items(frames ...Frame) []item {
	checked, err := newItems(frames, Box.Arity())
	if err != nil {
		panic(err)
	}
	return checked
}

func numbersOf(items []item) []int {
	numbers := []int{}
	for index := range items {
		numbers = append(numbers, int(items[index].Number))
	}
	return numbers
}

func upTo(end int) []int {
	numbers := make([]int, end)
	for number := range numbers {
		numbers[number] = number
	}
	return numbers
}

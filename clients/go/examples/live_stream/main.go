// Command live_stream is a simulated detector of 30 frames per second that sends its boxes to a
// hosted benchmark as they come, and prints the final scores:
//
//	VIDSCORE_TOKEN=... go run ./examples/live_stream localhost:50051 streets my-run
//
// Stop the server and start it again: the stream continues. Stop this program and start it again
// with the same name: it continues, too.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"time"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

const (
	rate         = 30 // frames per second
	tellInterval = time.Second
)

func main() {
	arguments := append(os.Args[1:], "300")
	if len(arguments) != 4 && len(arguments) != 5 {
		usage()
	}
	frames, err := strconv.ParseInt(arguments[3], 10, 64)
	if err != nil {
		usage()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, arguments[0], arguments[1], arguments[2], frames); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: VIDSCORE_TOKEN=... live_stream ADDRESS BENCHMARK SUBMISSION [FRAMES]")
	os.Exit(2)
}

func run(ctx context.Context, address, benchmark, submission string, frames int64) error {
	var options []vidscore.Option
	if token := os.Getenv("VIDSCORE_TOKEN"); token != "" {
		options = append(options, vidscore.WithToken(token))
	}
	client, err := vidscore.Connect(address, options...)
	if err != nil {
		return err
	}
	defer client.Close()
	stream, err := client.Submit(ctx, benchmark, vidscore.SubmitOptions{
		Submission: submission,
		Replay:     true,
		Delivery:   vidscore.Delivery{OnAcknowledged: atMostEvery(tellInterval, tell)},
	})
	if err != nil {
		return err
	}
	defer stream.Close()
	clock := time.NewTicker(time.Second / rate)
	defer clock.Stop()
	for number := range frames {
		if number >= stream.NextOffset() {
			<-clock.C // durable frames need no waiting
		}
		if err := stream.Send(ctx, detect(number)); err != nil {
			return err
		}
	}
	return finish(ctx, stream, frames)
}

// detect is the output of a detector: a car that moves to the right.
func detect(number int64) vidscore.Frame {
	x := float64(number)
	return vidscore.Frame{
		Sequence:    "street",
		Number:      number,
		Coordinates: []float64{10 + x, 20, 50 + x, 100},
		Labels:      []string{"Car"},
		Confidences: []float64{0.9},
	}
}

func tell(frames int64) { fmt.Println(frames, "frames are durable") }

func atMostEvery(interval time.Duration, tell func(int64)) func(int64) error {
	var next time.Time
	return func(frames int64) error {
		if now := time.Now(); !now.Before(next) {
			next = now.Add(interval)
			tell(frames)
		}
		return nil
	}
}

// finish waits until every frame is durable and the submission is scored, and prints the scores.
func finish(ctx context.Context, stream *vidscore.SubmissionStream, frames int64) error {
	if _, err := stream.Seal(ctx, frames); err != nil {
		return err
	}
	submission, err := stream.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("the submission is %s (%s)\n", submission.State, submission.StateReason)
	scores, err := stream.Scores(ctx)
	for _, score := range scores {
		for _, row := range score.Report.Scores {
			if row.Domain == nil && row.Label == nil && row.Sequence == nil {
				fmt.Printf("%-30s %s\n", row.Measure, row.Value)
			}
		}
	}
	return err
}

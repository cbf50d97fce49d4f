// Package vidscore is the Go client of vidscore, the evaluation server for video detection
// benchmarks: stream truth and detections frame by frame and get exact scores back, or send a
// system's detections to a hosted benchmark.
//
//	client, err := vidscore.Connect("localhost:50051")
//	if err != nil {
//		return err
//	}
//	defer client.Close()
//	truth := []vidscore.Frame{{Sequence: "1", Number: 1, Coordinates: []float64{100, 200}}}
//	found := []vidscore.Frame{{Sequence: "1", Number: 1, Coordinates: []float64{101, 200}}}
//	reports, err := client.Score(ctx, truth, found, vidscore.ScoreOptions{
//		Evaluators:        []vidscore.Evaluator{{Name: "spotgeo"}},
//		TruthGeometry:     vidscore.Point,
//		DetectionGeometry: vidscore.Point,
//	})
//
// # Contexts
//
// The context of a call bounds the call. The context of [Client.ScoreStream], [Client.Submit] and
// [Client.WatchSubmission] bounds what they open to its end: a stream whose context is done has
// ended. Unary calls, and the opening of a stream, take at most the time of [WithTimeout] too.
//
// # Goroutines
//
// A [Client] and its streams may be used from any number of goroutines; frames of one goroutine are
// sent in its order. A stream has goroutines of its own, which end with it; its callbacks are called
// on one of these, one at a time, and should be quick. What a callback must not do is wait for its
// own stream: call Finish, Flush, Seal or Close of a submission. Abort, and
// closing a scoring stream, are allowed. Every stream must be closed; closing the client closes all
// of its streams.
//
// # Errors
//
// Everything that goes wrong is an [*Error], which has all that the server said. Its kind is told by
// [errors.Is]:
//
//	if errors.Is(err, vidscore.ErrQuotaExceeded) { ... }
//	var failure *vidscore.Error
//	if errors.As(err, &failure) {
//		for _, violation := range failure.Violations { ... }
//	}
package vidscore

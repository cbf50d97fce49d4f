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
// [Client.WatchSubmission] also bounds the stream that they open: it ends when the context is done.
// Unary calls, and opening a stream, also have the timeout of [WithTimeout].
//
// # Goroutines
//
// A [Client] and its streams may be used from any number of goroutines; frames of one goroutine are
// sent in its order. A stream has its own goroutines, which end with it. They call its callbacks, one
// at a time; callbacks should be quick. A callback must not wait for its own stream, as Finish, Flush,
// Seal and Close of a submission stream do; it may call Abort, and close a scoring stream. Every
// stream must be closed; closing the client closes all of its streams.
//
// # Errors
//
// Every error is an [*Error], which carries all details from the server. [errors.Is] checks its kind:
//
//	if errors.Is(err, vidscore.ErrQuotaExceeded) { ... }
//	var failure *vidscore.Error
//	if errors.As(err, &failure) {
//		for _, violation := range failure.Violations { ... }
//	}
package vidscore

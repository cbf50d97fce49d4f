package main

import (
	"flag"
	"time"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

// options is the options of all commands.
type options struct {
	address, token string
	tls            vidscore.TLS
	timeout        float64
	keepalive      struct{ interval, timeout float64 }

	frames            string
	deadline          float64
	cancelAfterFrames int

	benchmark, submission, stream, title string
	replay, noSeal                       bool
	closing                              bool
	rate, wait, linger                   float64
	dieAfterAcknowledged                 int64

	batchFrames, queueFrames, windowFrames int
	batchInterval, blockTimeout            float64
	policy                                 string
	liveEveryFrames                        int64
	acknowledgeTimeout, closeTimeout       float64
	retryInitial, retryMaximum, giveUp     float64
	unary                                  bool
}

func newOptions(set *flag.FlagSet) *options {
	found := &options{}
	found.addConnection(set)
	found.addStreams(set)
	found.addSubmissions(set)
	return found
}

func (found *options) addConnection(set *flag.FlagSet) {
	set.StringVar(&found.address, "address", "", "host:port of the server")
	set.StringVar(&found.token, "token", "", "token")
	set.StringVar(&found.tls.RootCertificates, "ca", "", "PEM file of the authority; encrypts")
	set.StringVar(&found.tls.Certificate, "certificate", "", "PEM file of the client's certificate")
	set.StringVar(&found.tls.PrivateKey, "key", "", "PEM file of its key")
	set.StringVar(&found.tls.ServerName, "server-name", "", "name in the server's certificate")
	set.Float64Var(&found.timeout, "timeout-s", 10, "longest that a call may take")
	set.Float64Var(&found.keepalive.interval, "keepalive-interval-s", 0, "silence after which the server is asked")
	set.Float64Var(&found.keepalive.timeout, "keepalive-timeout-s", 0, "time that it has to answer")
	set.Float64Var(&found.linger, "linger-s", 0, "stay for so long after closing the client")
}

func (found *options) addStreams(set *flag.FlagSet) {
	set.StringVar(&found.frames, "frames", "", "JSON file of frames")
	set.Float64Var(&found.deadline, "deadline-s", 0, "longest that the whole call may take")
	set.IntVar(&found.cancelAfterFrames, "cancel-after-frames", 0, "cancel after so many frames")
	set.Int64Var(&found.liveEveryFrames, "live-every-frames", 0, "frames between two live reports")
	set.IntVar(&found.batchFrames, "batch-frames", 0, "most frames of a message")
	set.Float64Var(&found.batchInterval, "batch-interval-s", 0, "longest that a frame waits for others")
	set.IntVar(&found.queueFrames, "queue-frames", 0, "most frames that wait")
	set.StringVar(&found.policy, "policy", "block", "block or raise")
	set.Float64Var(&found.blockTimeout, "block-timeout-s", 0, "longest that block waits")
}

func (found *options) addSubmissions(set *flag.FlagSet) {
	set.StringVar(&found.benchmark, "benchmark", "", "name of the benchmark")
	set.StringVar(&found.submission, "submission", "", "name of the submission")
	set.StringVar(&found.stream, "stream", "default", "name of the stream")
	set.StringVar(&found.title, "title", "", "title of a new submission")
	set.BoolVar(&found.replay, "replay", false, "leave out what is durable")
	set.BoolVar(&found.noSeal, "no-seal", false, "leave the submission open")
	set.BoolVar(&found.closing, "close", false, "close the stream without a flush")
	set.BoolVar(&found.unary, "unary", false, "make each batch a call")
	set.Bool("until-ended", false, "watch until the submission has ended, as watch always does")
	set.Float64Var(&found.rate, "rate-hz", 0, "frames per second; 0 for as fast as possible")
	set.Float64Var(&found.wait, "wait-s", 60, "longest to wait for the end")
	set.Int64Var(&found.dieAfterAcknowledged, "die-after-acknowledged", 0, "die when so many frames are durable")
	set.IntVar(&found.windowFrames, "window-frames", 0, "most frames that are not acknowledged")
	set.Float64Var(&found.acknowledgeTimeout, "acknowledge-timeout-s", 0, "silence that is a break")
	set.Float64Var(&found.closeTimeout, "close-timeout-s", 0, "longest that closing waits")
	set.Float64Var(&found.retryInitial, "retry-initial-s", 0, "first wait after a break")
	set.Float64Var(&found.retryMaximum, "retry-maximum-s", 0, "longest wait after a break")
	set.Float64Var(&found.giveUp, "give-up-after-s", 0, "longest without progress")
}

func (found *options) batching() vidscore.Batching {
	batching := vidscore.Batching{
		BatchFrames:   found.batchFrames,
		BatchInterval: seconds(found.batchInterval),
		QueueFrames:   found.queueFrames,
		BlockTimeout:  seconds(found.blockTimeout),
	}
	if found.policy == "raise" {
		batching.Policy = vidscore.Refuse
	}
	return batching
}

func (found *options) delivery() vidscore.Delivery {
	return vidscore.Delivery{
		WindowFrames:       found.windowFrames,
		AcknowledgeTimeout: seconds(found.acknowledgeTimeout),
		CloseTimeout:       seconds(found.closeTimeout),
		Retry: vidscore.Retry{
			Initial:     seconds(found.retryInitial),
			Maximum:     seconds(found.retryMaximum),
			GiveUpAfter: seconds(found.giveUp),
		},
		Unary: found.unary,
	}
}

func seconds(count float64) time.Duration { return time.Duration(count * float64(time.Second)) }

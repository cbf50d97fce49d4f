package vidscore

import (
	"fmt"
	"time"
)

// Policy is what happens to the caller if the queue is full.
type Policy int

const (
	// Block waits for room, at most for Batching.BlockTimeout.
	Block Policy = iota
	// Refuse returns [ErrBackPressure] at once.
	Refuse
)

// Unlimited means no limit, in settings that have a limit by default.
const Unlimited time.Duration = -1

// Batching is how frames are batched into messages, and how many may wait. A zero setting has its
// default.
//
// A frame is sent at most BatchInterval after it was given, unless the server accepts no more; then
// frames wait in the queue. The frames of one call enter the queue if they fit or the queue is
// empty, so that memory is bounded by the queue and one call.
type Batching struct {
	// BatchFrames is the maximum frames of a message; 256 by default.
	BatchFrames int
	// BatchBytes is the maximum bytes of a message, unless a single frame is larger; 1 MiB by
	// default.
	BatchBytes int
	// BatchInterval is the longest time that a frame waits for others; 100 ms by default.
	BatchInterval time.Duration
	// QueueFrames is the maximum frames that wait to be sent, both sides together; 4096 by default.
	QueueFrames int
	// QueueBytes is the maximum bytes that wait to be sent; 64 MiB by default.
	QueueBytes int
	// Policy is what happens to the caller if the queue is full; Block by default.
	Policy Policy
	// BlockTimeout is the longest time that Block waits before it returns ErrBackPressure; 30 s by
	// default.
	BlockTimeout time.Duration
}

// Live is when live reports are sent, and who gets them. A report is sent when either interval has
// passed. It goes to OnReport and is kept, with the last KeepReports ones, for
// [ScoreStream.LiveReports].
type Live struct {
	// EveryFrames is the number of frames that both sides have sent since the last report; 0 for
	// not by frames.
	EveryFrames int64
	// Every is the time since the last report; 0 for not by time.
	Every time.Duration
	// OnReport is called with each report; an error ends the stream.
	OnReport func(*LiveReport) error
	// SummaryOnly leaves out the rows of single sequences and the curves.
	SummaryOnly bool
	// KeepReports is the maximum number of reports that wait for LiveReports; older ones are
	// dropped; 16 by default.
	KeepReports int
}

// TLS is an encrypted connection; all files are PEM.
type TLS struct {
	// RootCertificates is the file of the authorities to trust; empty for the system's own.
	RootCertificates string
	// Certificate is the file of this client's certificate chain, if the server requires one.
	Certificate string
	// PrivateKey is the file of the private key of Certificate.
	PrivateKey string
	// ServerName is the name in the server's certificate, if it differs from the address.
	ServerName string
}

// Keepalive is how silent connections are detected, because some networks drop connections
// silently. A zero setting has its default.
//
// While a call is open over a silent connection, the server is pinged. A connection without an
// answer is replaced by a new one.
type Keepalive struct {
	// Interval is the silence after which the server is pinged; 20 s by default, and at least 10 s,
	// because servers disconnect clients that ping more often.
	Interval time.Duration
	// Timeout is the time to wait for its answer; 10 s by default.
	Timeout time.Duration
}

// Retry is how often and how long to try again after a break; each wait is twice the one before. If
// the server gives a delay, no wait is shorter. A zero setting has its default.
type Retry struct {
	// Initial is the wait before the second try, 200 ms by default; the first one is made at once.
	Initial time.Duration
	// Maximum is the maximum wait between two tries; 10 s by default.
	Maximum time.Duration
	// GiveUpAfter is the time without progress after which the last error is returned; 10 min by
	// default, [Unlimited] for never.
	GiveUpAfter time.Duration
}

// Delivery is how frames of a submission are kept until the server has acknowledged them. A zero
// setting has its default.
//
// Sent but unacknowledged frames are kept to be sent again after a break, so that memory is bounded
// by this window and the queue of [Batching].
type Delivery struct {
	// WindowFrames is the number of unacknowledged frames at which no further batch is sent; 4096
	// by default.
	WindowFrames int
	// WindowBytes is the bytes of unacknowledged frames, likewise; 64 MiB by default.
	WindowBytes int
	// AcknowledgeTimeout is the time without an acknowledgement after which a connection counts as
	// broken; 30 s by default.
	AcknowledgeTimeout time.Duration
	// CloseTimeout is the longest time that closing the stream waits for frames to become durable
	// before it drops them; 2 min by default.
	CloseTimeout time.Duration
	// Retry is what happens after a break.
	Retry Retry
	// OnAcknowledged is called with the stream's number of durable frames whenever it has grown; an
	// error ends the stream. Flush, Close and Seal, which would wait for it, fail there.
	OnAcknowledged func(frames int64) error
	// Unary makes each batch a separate call, for proxies without streams; slower, otherwise the
	// same.
	Unary bool
}

func (batching Batching) checked() (Batching, error) {
	return batching.withDefaults(), firstError(
		atLeast("Batching.BatchFrames", batching.BatchFrames, 0),
		atLeast("Batching.BatchBytes", batching.BatchBytes, 0),
		atLeast("Batching.BatchInterval", batching.BatchInterval, 0),
		atLeast("Batching.QueueFrames", batching.QueueFrames, 0),
		atLeast("Batching.QueueBytes", batching.QueueBytes, 0),
		atLeast("Batching.BlockTimeout", batching.BlockTimeout, Unlimited),
		oneOf("Batching.Policy", batching.Policy, Block, Refuse),
	)
}

func (batching Batching) withDefaults() Batching {
	setDefault(&batching.BatchFrames, 256)
	setDefault(&batching.BatchBytes, 1<<20)
	setDefault(&batching.BatchInterval, 100*time.Millisecond)
	setDefault(&batching.QueueFrames, 4096)
	setDefault(&batching.QueueBytes, 64<<20)
	setDefault(&batching.BlockTimeout, 30*time.Second)
	return batching
}

func (live *Live) checked() (*Live, error) {
	if live == nil {
		return nil, nil
	}
	checked := *live
	setDefault(&checked.KeepReports, 16)
	if live.EveryFrames == 0 && live.Every == 0 {
		return nil, inputError("Live", "no interval", "EveryFrames or Every")
	}
	return &checked, firstError(
		atLeast("Live.EveryFrames", live.EveryFrames, 0),
		atLeast("Live.Every", live.Every, 0),
		atLeast("Live.KeepReports", live.KeepReports, 0),
	)
}

func (settings Keepalive) checked() (Keepalive, error) {
	checked := settings
	setDefault(&checked.Interval, 20*time.Second)
	setDefault(&checked.Timeout, 10*time.Second)
	return checked, firstError(
		atLeast("Keepalive.Interval", checked.Interval, 10*time.Second),
		atLeast("Keepalive.Timeout", checked.Timeout, 1),
	)
}

func (retry Retry) checked() (Retry, error) {
	checked := retry
	setDefault(&checked.Initial, 200*time.Millisecond)
	setDefault(&checked.Maximum, max(10*time.Second, checked.Initial))
	setDefault(&checked.GiveUpAfter, 10*time.Minute)
	return checked, firstError(
		atLeast("Retry.Initial", retry.Initial, 0),
		atLeast("Retry.Maximum", checked.Maximum, checked.Initial),
		atLeast("Retry.GiveUpAfter", retry.GiveUpAfter, Unlimited),
	)
}

func (delivery Delivery) checked() (Delivery, error) {
	retry, err := delivery.Retry.checked()
	checked := delivery
	checked.Retry = retry
	setDefault(&checked.WindowFrames, 4096)
	setDefault(&checked.WindowBytes, 64<<20)
	setDefault(&checked.AcknowledgeTimeout, 30*time.Second)
	setDefault(&checked.CloseTimeout, 2*time.Minute)
	return checked, firstError(
		err,
		atLeast("Delivery.WindowFrames", delivery.WindowFrames, 0),
		atLeast("Delivery.WindowBytes", delivery.WindowBytes, 0),
		atLeast("Delivery.AcknowledgeTimeout", delivery.AcknowledgeTimeout, 0),
		atLeast("Delivery.CloseTimeout", delivery.CloseTimeout, 0),
	)
}

func setDefault[Number int | time.Duration](setting *Number, value Number) {
	if *setting == 0 {
		*setting = value
	}
}

func atLeast[Number int | int64 | time.Duration](name string, found, least Number) error {
	if found >= least {
		return nil
	}
	return inputError(name, fmt.Sprint(found), fmt.Sprintf("at least %v", least))
}

func oneOf[Value comparable](name string, found Value, allowed ...Value) error {
	for _, value := range allowed {
		if found == value {
			return nil
		}
	}
	return inputError(name, fmt.Sprint(found), fmt.Sprintf("one of %v", allowed))
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

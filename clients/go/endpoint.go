package vidscore

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"regexp"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

const userAgent = "vidscore-go/" + Version

// maximumResponseBytes fits a report of a million rows; grpc's own limit of 4 MiB is too small.
const maximumResponseBytes = 256 << 20

var targetPattern = regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://[^/\s]*/)?(\[[^\]\s]+\]|[^\s:/]+):\d{1,5}$`)

// Option is a setting of [Connect].
type Option func(*endpoint)

// WithTLS encrypts the connection. The zero [TLS] trusts the system's authorities.
func WithTLS(settings TLS) Option { return func(endpoint *endpoint) { endpoint.tls = &settings } }

// WithToken sends a token with each call, as "authorization: Bearer". It is never sent unencrypted
// to another machine, unless [WithPlaintextToken] allows it.
func WithToken(token string) Option { return func(endpoint *endpoint) { endpoint.token = &token } }

// WithPlaintextToken allows the token to be sent unencrypted to another machine, on a network that
// nobody else can read.
func WithPlaintextToken() Option { return func(endpoint *endpoint) { endpoint.plaintextToken = true } }

// WithTimeout sets the timeout of a unary call, and of opening a stream; 10 s by default.
func WithTimeout(timeout time.Duration) Option {
	return func(endpoint *endpoint) { endpoint.timeout = timeout }
}

// WithKeepalive sets how silent connections are detected.
func WithKeepalive(settings Keepalive) Option {
	return func(endpoint *endpoint) { endpoint.keepalive = settings }
}

// WithRetry sets what [Client.SealSubmission], [Client.WatchSubmission] and [Client.WaitSubmission]
// do after a break of the connection. For streams, see [Delivery].
func WithRetry(retry Retry) Option { return func(endpoint *endpoint) { endpoint.retry = retry } }

// WithDialOptions adds options of grpc, such as interceptors.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(endpoint *endpoint) { endpoint.dial = append(endpoint.dial, options...) }
}

// endpoint is the address of a server and how to call it.
type endpoint struct {
	target         string
	host           string // name or address of the machine; empty for a local socket
	tls            *TLS
	token          *string
	plaintextToken bool
	timeout        time.Duration
	retry          Retry
	keepalive      Keepalive
	dial           []grpc.DialOption
}

func newEndpoint(target string, options []Option) (*endpoint, error) {
	host, err := hostOf(target)
	if err != nil {
		return nil, err
	}
	endpoint := &endpoint{target: target, host: host, timeout: 10 * time.Second}
	for _, option := range options {
		option(endpoint)
	}
	var keepaliveErr error
	endpoint.retry, err = endpoint.retry.checked()
	endpoint.keepalive, keepaliveErr = endpoint.keepalive.checked()
	return endpoint, firstError(err, keepaliveErr, atLeast("WithTimeout", endpoint.timeout, 1), endpoint.checkToken())
}

func (endpoint *endpoint) dialOptions() ([]grpc.DialOption, error) {
	options := []grpc.DialOption{
		grpc.WithUserAgent(userAgent),
		grpc.WithChainUnaryInterceptor(checkingServer),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maximumResponseBytes)),
		// grpc's own waits grow to two minutes, longer than a stream waits between two tries.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 5 * time.Second},
			MinConnectTimeout: 10 * time.Second,
		}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: endpoint.keepalive.Interval, Timeout: endpoint.keepalive.Timeout,
		}),
	}
	if endpoint.isLoopback() {
		// A proxy of the environment is for the network, not for this machine.
		options = append(options, grpc.WithNoProxy())
	}
	options = append(options, grpc.WithPerRPCCredentials(endpoint.metadata()))
	transport, err := endpoint.credentials()
	options = append(options, grpc.WithTransportCredentials(transport))
	return append(options, endpoint.dial...), err
}

func (endpoint *endpoint) checkToken() error {
	if endpoint.token == nil {
		return nil
	}
	// The text never shows the token, because errors end up in logs.
	unprintable := func(sign rune) bool { return sign < '!' || sign > '~' }
	if *endpoint.token == "" || strings.ContainsFunc(*endpoint.token, unprintable) {
		return inputError("WithToken", "something else", "printable ASCII without spaces or line breaks")
	}
	if endpoint.tls == nil && !endpoint.plaintextToken && !endpoint.isLoopback() {
		return inputError("WithToken", "an unencrypted connection to "+endpoint.host,
			"WithTLS, or WithPlaintextToken on a network that nobody else can read")
	}
	return nil
}

func (endpoint *endpoint) isLoopback() bool {
	address := net.ParseIP(endpoint.host)
	return endpoint.host == "" || endpoint.host == "localhost" || (address != nil && address.IsLoopback())
}

func (endpoint *endpoint) credentials() (credentials.TransportCredentials, error) {
	if endpoint.tls == nil {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{ServerName: endpoint.tls.ServerName, MinVersion: tls.VersionTLS12}
	err := firstError(endpoint.tls.addRoots(config), endpoint.tls.addCertificate(config))
	return credentials.NewTLS(config), err
}

func (settings *TLS) addRoots(config *tls.Config) error {
	if settings.RootCertificates == "" {
		return nil
	}
	pem, err := os.ReadFile(settings.RootCertificates)
	if err != nil {
		return inputError("TLS.RootCertificates", err.Error(), "a PEM file")
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return inputError("TLS.RootCertificates", settings.RootCertificates+" without a certificate", "a PEM file")
	}
	return nil
}

func (settings *TLS) addCertificate(config *tls.Config) error {
	if (settings.Certificate == "") != (settings.PrivateKey == "") {
		return inputError("TLS", "only one of them", "Certificate and PrivateKey together, or neither")
	}
	if settings.Certificate == "" {
		return nil
	}
	certificate, err := tls.LoadX509KeyPair(settings.Certificate, settings.PrivateKey)
	if err != nil {
		return inputError("TLS.Certificate", err.Error(), "PEM files of a certificate and its key")
	}
	config.Certificates = []tls.Certificate{certificate}
	return nil
}

// hostOf is the machine of an address; empty for a local socket.
func hostOf(target string) (string, error) {
	if strings.HasPrefix(target, "unix:") && !strings.ContainsAny(target, " \t\r\n") {
		return "", nil
	}
	expected := "host:port, [address]:port or unix:path"
	found := targetPattern.FindStringSubmatch(target)
	if found == nil {
		return "", inputError("target", fmt.Sprintf("%.80q", target), expected)
	}
	if _, err := net.LookupPort("tcp", target[strings.LastIndexByte(target, ':')+1:]); err != nil {
		return "", inputError("target", fmt.Sprintf("%.80q", target), expected)
	}
	return strings.Trim(found[1], "[]"), nil
}

// callMetadata goes with each call: the version of this client, and the token, which was checked
// before: whether it may be sent unencrypted.
type callMetadata map[string]string

func (endpoint *endpoint) metadata() callMetadata {
	sent := callMetadata{versionKey: Version}
	if endpoint.token != nil {
		sent["authorization"] = "Bearer " + *endpoint.token
	}
	return sent
}

// GetRequestMetadata and RequireTransportSecurity make grpc send it with each call.
func (sent callMetadata) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return sent, nil
}

func (sent callMetadata) RequireTransportSecurity() bool { return false }

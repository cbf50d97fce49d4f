// Command conformance is the runner of the conformance suite: one command of the client, one JSON
// object on standard output. The contract of the suite defines its options and output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	vidscore "github.com/vidscore/vidscore/clients/go"
)

const (
	exitUsage = 2
	exitError = 3
)

// command runs one command and returns what it prints.
type command func(ctx context.Context, client *vidscore.Client, options *options) (any, error)

var commands = map[string]command{
	"evaluators":  evaluators,
	"health":      health,
	"score":       score,
	"submit":      submit,
	"watch":       watch,
	"get":         get,
	"cancel":      cancel,
	"leaderboard": leaderboard,
}

func main() {
	if len(os.Args) < 2 {
		usage("no command")
	}
	name := os.Args[1]
	if name == "version" {
		show(map[string]any{"language": "go", "client_version": vidscore.Version})
		return
	}
	run, known := commands[name]
	if !known {
		usage(fmt.Sprintf("no command %q", name))
	}
	options := parseOptions(os.Args[2:])
	result, err := connectAndRun(run, options)
	if err == nil {
		show(result)
		return
	}
	var failure *vidscore.Error
	if !errors.As(err, &failure) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	show(map[string]any{"error": errorJSON(failure)})
	os.Exit(exitError)
}

func connectAndRun(run command, options *options) (any, error) {
	keepalive := vidscore.Keepalive{
		Interval: seconds(options.keepalive.interval), Timeout: seconds(options.keepalive.timeout),
	}
	settings := []vidscore.Option{
		vidscore.WithTimeout(seconds(options.timeout)), vidscore.WithKeepalive(keepalive),
	}
	if options.token != "" {
		settings = append(settings, vidscore.WithToken(options.token))
	}
	if options.tls != (vidscore.TLS{}) {
		settings = append(settings, vidscore.WithTLS(options.tls))
	}
	client, err := vidscore.Connect(options.address, settings...)
	if err != nil {
		return nil, err
	}
	result, err := run(context.Background(), client, options)
	if closeErr := client.Close(); err == nil {
		err = closeErr
	}
	time.Sleep(seconds(options.linger))
	return result, err
}

func show(document any) {
	text, err := json.Marshal(document)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(text))
}

func usage(problem string) {
	fmt.Fprintln(os.Stderr, "usage: runner COMMAND --option value ...:", problem)
	os.Exit(exitUsage)
}

func parseOptions(arguments []string) *options {
	set := flag.NewFlagSet("runner", flag.ExitOnError)
	found := newOptions(set)
	if err := set.Parse(arguments); err != nil || set.NArg() > 0 {
		usage("an option is wrong")
	}
	return found
}

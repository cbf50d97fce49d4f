package vidscore

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Version is the version of this client; it is that of the server of the same release.
const Version = "0.2.0"

const (
	// versionKey is the metadata by which a server knows whether it is too far from this client.
	versionKey = "vidscore-client-version"
	// serverVersionKey is the trailing metadata by which a server says its own version.
	serverVersionKey = "vidscore-server-version"
	// minorsApart is how many minor versions may lie between server and client.
	minorsApart = 1
)

var versionPattern = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})[.+\-a-z0-9]*$`)

// checkServer refuses a server of a version that a client does not work with. The server holds its
// clients to the same rule; this side tells it where an older server does not. A text that is no
// version is let pass, as proxies may be.
func checkServer(server, client string) error {
	theirs, ours := versionPattern.FindStringSubmatch(server), versionPattern.FindStringSubmatch(client)
	if theirs == nil || ours == nil {
		return nil
	}
	majors, minors := distance(theirs[1], ours[1]), distance(theirs[2], ours[2])
	if majors == 0 && max(minors, -minors) <= minorsApart {
		return nil
	}
	advice := "update the server, or use an older client"
	if majors > 0 || (majors == 0 && minors > 0) {
		advice = "update vidscore-client"
	}
	return &Error{
		Kind: ErrVersion,
		Message: fmt.Sprintf(
			"the server has version %s and the client %s, which works with servers of the same major version "+
				"and at most %d minor version away: %s", server, client, minorsApart, advice),
		Reason:   "VERSION_UNSUPPORTED",
		Metadata: map[string]string{"client_version": client, "server_version": server},
	}
}

func distance(theirs, ours string) int {
	their, _ := strconv.Atoi(theirs) // the pattern has digits alone
	our, _ := strconv.Atoi(ours)
	return their - our
}

// checkingServer looks at the version of the server when a unary call has succeeded.
func checkingServer(
	ctx context.Context, method string, request, response any,
	connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	var trailer metadata.MD
	if err := invoke(ctx, method, request, response, connection, append(options, grpc.Trailer(&trailer))...); err != nil {
		return err
	}
	for _, version := range trailer.Get(serverVersionKey) {
		if err := checkServer(version, Version); err != nil {
			return err
		}
	}
	return nil
}

package vidscore

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Version is the version of this client and of the server of the same release.
const Version = "0.2.0"

const (
	// versionKey is the metadata with which a client states its version to the server.
	versionKey = "vidscore-client-version"
	// serverVersionKey is the trailing metadata with which a server states its version.
	serverVersionKey = "vidscore-server-version"
	// minorsApart is the maximum distance between the minor versions of server and client.
	minorsApart = 1
)

var versionPattern = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})[.+\-a-z0-9]*$`)

// checkServer refuses a server whose version this client does not work with. The server applies the
// same rule to its clients; this check covers older servers that do not. A text that is not a
// version is accepted, as from proxies.
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
	their, _ := strconv.Atoi(theirs) // the pattern has only digits
	our, _ := strconv.Atoi(ours)
	return their - our
}

// checkingServer checks the server's version after a successful unary call.
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

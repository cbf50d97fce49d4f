package io.github.vidscore.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions of server and client that work together: at most one minor version apart. The server
 * applies the same rule to its clients; this check covers older servers that do not.
 */
final class Versions implements ClientInterceptor {
  /** Metadata of each call: version of this client. */
  static final Metadata.Key<String> CLIENT = key("vidscore-client-version");

  /** Trailing metadata of each call: version of the server. */
  static final Metadata.Key<String> SERVER = key("vidscore-server-version");

  private static final int MINORS_APART = 1;
  private static final Pattern VERSION =
      Pattern.compile("(\\d{1,6})\\.(\\d{1,6})(?:[.+\\-a-z0-9]*)");

  /** Refuses a server that is too far from a client; a text that is not a version is accepted. */
  static void check(String server, String client) {
    Matcher theirs = VERSION.matcher(server);
    Matcher ours = VERSION.matcher(client);
    if (!theirs.matches() || !ours.matches()) {
      return; // as from a proxy
    }
    int majors = Integer.parseInt(theirs.group(1)) - Integer.parseInt(ours.group(1));
    int minors = Integer.parseInt(theirs.group(2)) - Integer.parseInt(ours.group(2));
    if (majors == 0 && Math.abs(minors) <= MINORS_APART) {
      return;
    }
    boolean newer = majors > 0 || (majors == 0 && minors > 0);
    String advice = newer ? "update vidscore-client" : "update the server, or use an older client";
    throw new VersionException(
        Failure.of(
                ("the server has version %s and the client %s, which works with servers of the same"
                        + " major version and at most %d minor version away: %s")
                    .formatted(server, client, MINORS_APART, advice))
            .withReason("VERSION_UNSUPPORTED")
            .withMetadata(Map.of("client_version", client, "server_version", server)));
  }

  /** Sends the client's version, and checks the server's after a successful unary call. */
  @Override
  public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
      MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<ResponseT> listener, Metadata headers) {
        headers.put(CLIENT, VidscoreClient.VERSION);
        boolean unary = method.getType() == MethodDescriptor.MethodType.UNARY;
        super.start(unary ? checking(listener) : listener, headers);
      }
    };
  }

  private static <ResponseT> ClientCall.Listener<ResponseT> checking(
      ClientCall.Listener<ResponseT> listener) {
    return new SimpleForwardingClientCallListener<>(listener) {
      @Override
      public void onClose(Status status, Metadata trailers) {
        super.onClose(status.isOk() ? checked(trailers) : status, trailers);
      }
    };
  }

  private static Status checked(Metadata trailers) {
    String server = trailers.get(SERVER);
    try {
      check(server == null ? "" : server, VidscoreClient.VERSION);
      return Status.OK;
    } catch (VersionException apart) {
      return Status.FAILED_PRECONDITION.withCause(apart);
    }
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}

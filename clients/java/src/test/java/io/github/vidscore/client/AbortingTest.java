package io.github.vidscore.client;

import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.until;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.inprocess.InProcessChannelBuilder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A stream that is aborted in the very moment in which its call starts. */
class AbortingTest implements ClientInterceptor {
  private final List<Boolean> cancelled = Collections.synchronizedList(new ArrayList<>());
  private SubmissionStream stream;

  @Test
  void aCallIsCancelledOnlyOnceItHasStarted() {
    FakeSubmissions fake = new FakeSubmissions();
    try (Support.Site site = new Support.Site(fake, fake.benchmark);
        VidscoreClient client =
            site.client()
                .channels(any -> InProcessChannelBuilder.forName(site.name).intercept(this))
                .build()) {
      stream = client.submit("streets", SubmitOptions.named("run"));
      stream.send(box(0));
      until("the end of the call", () -> !cancelled.isEmpty());
    }
    assertEquals(List.of(true), cancelled);
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    ClientCall<Q, R> call = next.newCall(method, options);
    if (!"AppendFrames".equals(method.getBareMethodName())) {
      return call;
    }
    return new SimpleForwardingClientCall<>(call) {
      private boolean started;

      @Override
      public void start(Listener<R> listener, Metadata headers) {
        stream.abort();
        super.start(listener, headers);
        started = true;
      }

      @Override
      public void cancel(String message, Throwable cause) {
        cancelled.add(started); // whether gRPC bears it
        super.cancel(message, cause);
      }
    };
  }
}

package io.github.vidscore.client;

import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Streams and calls that are aborted or closed at the moment in which their call starts. */
class AbortingTest implements ClientInterceptor {
  private final List<Boolean> cancelled = Collections.synchronizedList(new ArrayList<>());
  private final FakeSubmissions fake = new FakeSubmissions();
  private final Support.Site site = new Support.Site(fake, fake.benchmark);
  private final VidscoreClient client =
      site.client()
          .channels(any -> InProcessChannelBuilder.forName(site.name).intercept(this))
          .build();
  private Runnable abort;

  @AfterEach
  void close() {
    client.close();
    site.close();
  }

  @Test
  void theCallOfAStreamIsCancelledOnceItHasStarted() {
    SubmissionStream stream = client.submit("streets", SubmitOptions.named("run"));
    abort = stream::abort;
    stream.send(box(0));
    until("the end of the call", () -> !cancelled.isEmpty());
    assertEquals(List.of(true), cancelled);
  }

  @Test
  void theCallOfAWatchIsCancelledOnceItHasStarted() {
    SubmissionWatch watch = client.watchSubmission("streets/run", null);
    abort = watch::close;
    assertFalse(watch.hasNext());
    assertEquals(List.of(true), cancelled);
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
    ClientCall<Q, R> call = next.newCall(method, options);
    if (method.getType() == MethodDescriptor.MethodType.UNARY) {
      return call;
    }
    return new SimpleForwardingClientCall<>(call) {
      private boolean started;

      @Override
      public void start(Listener<R> listener, Metadata headers) {
        abort.run();
        super.start(listener, headers);
        started = true;
      }

      @Override
      public void cancel(String message, Throwable cause) {
        cancelled.add(started); // whether gRPC allows it
        super.cancel(message, cause);
      }
    };
  }
}

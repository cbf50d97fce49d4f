package io.github.vidscore.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.Test;

/** Which fault of the network is which exception. */
class StatusesTest {
  @Test
  void aConnectionThatIsClosedUnderACallIsUnavailable() {
    var closed = Status.UNKNOWN.withDescription("channel closed");
    assertUnavailable(closed.withCause(new ClosedChannelException()));
    assertInstanceOf(InternalException.class, exceptionOf(closed)); // a server's own answer
  }

  @Test
  void aCallThatNobodyHereHasCancelledIsUnavailable() {
    var cancelled = Status.CANCELLED.withDescription("CANCELLED");
    assertUnavailable(cancelled);
    var byInterruption = cancelled.withCause(new InterruptedException());
    assertInstanceOf(CallCancelledException.class, exceptionOf(byInterruption));
    var context = Context.current().withCancellation();
    context.cancel(null);
    context.run(
        () -> assertInstanceOf(CallCancelledException.class, exceptionOf(cancelled)));
  }

  private static void assertUnavailable(Status status) {
    VidscoreException found = exceptionOf(status);
    assertInstanceOf(UnavailableException.class, found);
    assertEquals("UNAVAILABLE", found.code());
    assertTrue(found.isRetryable());
  }

  private static VidscoreException exceptionOf(Status status) {
    return Statuses.exceptionOf(status.asRuntimeException());
  }
}

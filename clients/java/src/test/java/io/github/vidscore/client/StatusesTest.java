package io.github.vidscore.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.Status;
import java.nio.channels.ClosedChannelException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The exceptions for faults of the network. */
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

  @Test
  void aMessageThatGrpcItselfHasRefusedBreaksTheServersLimit() {
    var refused = "SERVER: Received message larger than max (1280028 vs. 1114112)";
    var found = exceptionOf(Status.RESOURCE_EXHAUSTED.withDescription(refused));
    assertInstanceOf(LimitExceededException.class, found);
    assertEquals(
        "a message of 1280028 bytes; the server accepts at most 1114112: "
            + "send less at once, or raise its limit maximum_message_bytes",
        found.message());
    assertEquals("LIMIT_EXCEEDED", found.reason());
    assertEquals(
        Map.of("limit", "maximum_message_bytes", "maximum", "1114112"), found.metadata());
    var own = "CLIENT: Received message larger than max (9 vs. 8)";
    found = exceptionOf(Status.RESOURCE_EXHAUSTED.withDescription(own));
    assertEquals(own, found.message());
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

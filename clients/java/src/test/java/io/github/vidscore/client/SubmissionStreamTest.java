package io.github.vidscore.client;

import static io.github.vidscore.client.Support.LIMIT;
import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.boxes;
import static io.github.vidscore.client.Support.numbers;
import static io.github.vidscore.client.Support.refusal;
import static io.github.vidscore.client.Support.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.vidscore.v1.WatchSubmissionResponse;
import io.grpc.Status.Code;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams into submissions: they continue after breaks, and report lasting errors. */
class SubmissionStreamTest {
  private static final Delivery QUICK = Delivery.DEFAULT.withRetry(Support.QUICK);
  private static final Batching ONE_BY_ONE = Batching.DEFAULT.withBatchFrames(1);

  private final FakeSubmissions fake = new FakeSubmissions();
  private final Support.Site site = new Support.Site(fake, fake.benchmark);
  private final VidscoreClient client = site.client().build();

  @AfterEach
  void theThreadsOfStreamsEndWithThem() {
    client.close();
    fake.hold.countDown();
    site.close();
    until("the end of the streams' threads", () -> !Support.streamsRun());
  }

  private SubmissionStream submit(Batching batching, Delivery delivery) {
    return client.submit(
        "streets", SubmitOptions.named("run").withBatching(batching).withDelivery(delivery));
  }

  private static void send(SubmissionStream stream, int first, int end) {
    boxes(first, end).forEach(stream::send);
  }

  private static Throwable failureOf(SubmissionStream stream) {
    AtomicReference<VidscoreException> failure = new AtomicReference<>();
    until(
        "a failure",
        () -> {
          try {
            stream.send(box(99));
            return false;
          } catch (VidscoreException thrown) {
            failure.set(thrown);
            return true;
          }
        });
    return failure.get();
  }

  @Test
  void noMessageIsLargerThanTheServerTakes() {
    fake.limits.putAll(Map.of("maximum_batch_frames", 4L, "maximum_message_bytes", 1L << 20));
    try (SubmissionStream stream = submit(Batching.DEFAULT, QUICK)) {
      stream.sendBatch(boxes(0, 10));
    }
    assertEquals(List.of(0L, 4L, 8L), fake.offsets);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void framesAreDurableInOrderTheListenerIsToldAndTheSubmissionIsSealed(boolean unary) {
    List<Long> told = new ArrayList<>();
    Delivery delivery = QUICK.withUnary(unary).withOnAcknowledged(told::add);
    try (SubmissionStream stream = submit(Batching.DEFAULT.withBatchFrames(4), delivery)) {
      send(stream, 0, 10);
      stream.sendBatch(boxes(10, 20));
      assertEquals(SubmissionState.SEALED, stream.seal(20).state());
      assertEquals(20, stream.acknowledgedFrames());
      assertEquals(numbers(20), fake.stored);
      assertEquals(told.stream().sorted().distinct().toList(), told);
      assertEquals(20, told.get(told.size() - 1));
      assertThrows(ClosedException.class, () -> stream.send(box(20)));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whateverPassesIsGoneOverAndNothingIsStoredTwice(boolean unary) {
    fake.before.addAll(
        Arrays.asList(
            refusal(Code.UNAVAILABLE, ""),
            null,
            refusal(Code.INTERNAL, ""),
            refusal(Code.UNKNOWN, ""),
            refusal(Code.CANCELLED, ""),
            refusal(Code.RESOURCE_EXHAUSTED, "STORE_FULL"),
            null,
            refusal(Code.OUT_OF_RANGE, "OFFSET_GAP"),
            refusal(Code.OUT_OF_RANGE, "OFFSET_STRADDLES")));
    fake.after.addAll(
        Arrays.asList(null, refusal(Code.UNAVAILABLE, ""), null, refusal(Code.UNAVAILABLE, "")));
    try (SubmissionStream stream = submit(ONE_BY_ONE, QUICK.withUnary(unary))) {
      send(stream, 0, 30);
      assertEquals(30, stream.flush(LIMIT));
    }
    assertEquals(numbers(30), fake.stored);
  }

  @Test
  void whatNoRepetitionCanMendEndsTheStreamAfterOneTry() {
    Map<String, Code> lasting =
        Map.of(
            "FRAME_EXISTS", Code.ALREADY_EXISTS,
            "SUBMISSION_ENDED", Code.FAILED_PRECONDITION,
            "INVALID_FIELD", Code.INVALID_ARGUMENT);
    Map<String, Class<? extends VidscoreException>> kinds =
        Map.of(
            "FRAME_EXISTS", ConflictException.class,
            "SUBMISSION_ENDED", SubmissionEndedException.class,
            "INVALID_FIELD", InvalidArgumentException.class);
    lasting.forEach(
        (reason, code) -> {
          fake.offsets.clear();
          fake.before.add(refusal(code, reason));
          try (SubmissionStream stream = submit(Batching.DEFAULT, QUICK)) {
            send(stream, 0, 3);
            VidscoreException failure = assertThrows(kinds.get(reason), () -> stream.flush(LIMIT));
            assertEquals(reason, failure.reason());
            assertThrows(kinds.get(reason), () -> stream.send(box(3)));
            assertThrows(kinds.get(reason), stream::close);
          }
          assertEquals(1, fake.offsets.size());
        });
  }

  @Test
  void aServerThatIsRestartedIsFoundAgain() {
    try (SubmissionStream stream = submit(Batching.DEFAULT, QUICK)) {
      send(stream, 0, 100);
      assertEquals(100, stream.flush(LIMIT));
      site.stop();
      send(stream, 100, 150);
      site.start();
      send(stream, 150, 200);
      assertEquals(200, stream.flush(LIMIT));
    }
    assertEquals(numbers(200), fake.stored);
  }

  @Test
  void aServerThatStaysAwayIsGivenUp() {
    Retry hurried = new Retry(Duration.ofMillis(1), Duration.ofMillis(1), Duration.ofMillis(50));
    try (SubmissionStream stream = submit(Batching.DEFAULT, QUICK.withRetry(hurried))) {
      site.stop();
      send(stream, 0, 3);
      assertTrue(assertThrows(UnavailableException.class, () -> stream.flush(LIMIT)).isRetryable());
      stream.abort();
    }
  }

  @Test
  void aConnectionOverWhichNothingIsAcknowledgedIsMadeAnew() {
    fake.hold = new CountDownLatch(1);
    Delivery hurried = QUICK.withAcknowledgeTimeout(Duration.ofMillis(50));
    try (SubmissionStream stream = submit(Batching.DEFAULT, hurried)) {
      send(stream, 0, 3);
      until("a break", () -> stream.sender().breaks() > 0);
      fake.hold.countDown();
      assertEquals(3, stream.flush(LIMIT));
    }
    assertEquals(numbers(3), fake.stored);
  }

  @Test
  void anOlderWriterIsSupersededAndDoesNotShutTheYoungerOneOut() {
    try (SubmissionStream older = submit(Batching.DEFAULT, QUICK)) {
      send(older, 0, 3);
      older.flush(LIMIT);
      try (SubmissionStream younger = submit(Batching.DEFAULT, QUICK)) {
        assertEquals(3, younger.nextOffset());
        fake.before.add(refusal(Code.UNAVAILABLE, ""));
        send(older, 3, 6);
        SupersededException failure =
            assertThrows(SupersededException.class, () -> older.flush(LIMIT));
        assertEquals("EPOCH_STALE", failure.reason());
        older.abort();
        send(younger, 3, 9);
        assertEquals(9, younger.flush(LIMIT));
      }
    }
    assertEquals(numbers(9), fake.stored);
  }

  @Test
  void aProgramThatStartsAgainWithReplaySendsExactlyWhatIsNotDurable() {
    try (SubmissionStream died = submit(Batching.DEFAULT, QUICK)) {
      send(died, 0, 7);
      died.flush(LIMIT);
    }
    SubmitOptions again = SubmitOptions.named("run").withReplay(true).withDelivery(QUICK);
    try (SubmissionStream stream = client.submit("streets", again)) {
      assertEquals(7, stream.nextOffset());
      send(stream, 0, 12);
      assertEquals(12, stream.flush(LIMIT));
    }
    assertEquals(numbers(12), fake.stored);
    assertEquals(1, fake.creations);
  }

  @Test
  void aFullQueueRefusesAtOnceOrAfterTheTimeToWaitAndTheStreamGoesOn() {
    for (Policy policy : Policy.values()) {
      fake.hold = new CountDownLatch(1);
      Batching small =
          ONE_BY_ONE.withQueueFrames(2).withPolicy(policy).withBlockTimeout(Duration.ofMillis(20));
      int durable = fake.stored.size();
      try (SubmissionStream stream = submit(small, QUICK.withWindowFrames(1))) {
        int sent = 0;
        BackPressureException refused = null;
        while (sent < 3 || refused == null) {
          try {
            stream.send(box(durable + sent));
            sent++;
          } catch (BackPressureException full) {
            refused = full; // it may come early, before the first frame is in the window
          }
        }
        assertEquals(3, sent, "one in the window, two in the queue");
        assertThrows(DeadlineException.class, () -> stream.flush(Duration.ofMillis(1)));
        fake.hold.countDown();
        assertEquals(durable + 3, stream.flush(LIMIT));
      }
    }
  }

  @Test
  void aListenerMayThrowOrAbortButNotWait() throws Exception {
    RuntimeException mistake = new IllegalStateException("mistake");
    Delivery throwing =
        QUICK.withOnAcknowledged(
            count -> {
              throw mistake;
            });
    try (SubmissionStream stream = submit(Batching.DEFAULT, throwing)) {
      send(stream, 0, 3);
      Throwable failure = failureOf(stream);
      assertInstanceOf(CallbackException.class, failure);
      assertSame(mistake, failure.getCause());
      stream.abort();
    }
    CompletableFuture<SubmissionStream> opened = new CompletableFuture<>();
    CompletableFuture<Throwable> waited = new CompletableFuture<>();
    Delivery closing =
        QUICK.withOnAcknowledged(
            count -> {
              SubmissionStream own = opened.join();
              waited.complete(assertThrows(CallbackException.class, own::flush));
              assertThrows(CallbackException.class, own::close);
              own.abort();
            });
    try (SubmissionStream stream = submit(Batching.DEFAULT, closing)) {
      opened.complete(stream);
      send(stream, 3, 6);
      waited.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertInstanceOf(ClosedException.class, failureOf(stream));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anErrorThatAListenerThrowsEndsTheStreamAndItsWaits(boolean unary) {
    AssertionError mistake = new AssertionError("mistake");
    Delivery throwing =
        QUICK
            .withUnary(unary)
            .withOnAcknowledged(
                count -> {
                  throw mistake;
                });
    try (SubmissionStream stream = submit(Batching.DEFAULT, throwing)) {
      send(stream, 0, 3);
      assertEquals(3, stream.flush(LIMIT));
      Throwable failure = failureOf(stream);
      assertInstanceOf(CallbackException.class, failure);
      assertSame(mistake, failure.getCause());
    }
  }

  @Test
  void aStreamEndsWithItsClientAndAWaitWithItsThread() throws Exception {
    SubmissionStream stream = submit(Batching.DEFAULT, QUICK);
    fake.hold = new CountDownLatch(1);
    send(stream, 0, 3);
    CompletableFuture<Throwable> waited = new CompletableFuture<>();
    Thread waiting =
        new Thread(() -> waited.complete(assertThrows(VidscoreException.class, stream::flush)));
    waiting.start();
    waiting.interrupt();
    assertInstanceOf(CallCancelledException.class, waited.get(LIMIT.toSeconds(), TimeUnit.SECONDS));
    client.abort();
    assertInstanceOf(ClosedException.class, failureOf(stream));
    assertThrows(ClosedException.class, () -> submit(Batching.DEFAULT, QUICK));
  }

  @Test
  void closingAStreamOrItsClientDeliversWhatWasTaken() {
    try (SubmissionStream stream = submit(Batching.DEFAULT, QUICK)) {
      send(stream, 0, 7);
    }
    assertEquals(numbers(7), fake.stored);
    SubmissionStream other = submit(Batching.DEFAULT, QUICK);
    send(other, 7, 12);
    client.close();
    assertEquals(numbers(12), fake.stored);
    assertEquals(0, other.undeliveredFrames());
  }

  @Test
  void closingAClientWhileAStreamIsBeingClosedWaitsForItsFrames() throws Exception {
    fake.hold = new CountDownLatch(1);
    SubmissionStream stream = submit(Batching.DEFAULT, QUICK);
    send(stream, 0, 7);
    CompletableFuture<Void> first = new CompletableFuture<>();
    Thread closing =
        new Thread(
            () -> {
              stream.close();
              first.complete(null);
            });
    closing.start();
    until("the wait", () -> closing.getState() == Thread.State.TIMED_WAITING);
    CompletableFuture<Void> second = CompletableFuture.runAsync(client::close);
    assertThrows(TimeoutException.class, () -> second.get(50, TimeUnit.MILLISECONDS));
    fake.hold.countDown();
    first.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    second.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertEquals(numbers(7), fake.stored);
    assertEquals(0, stream.undeliveredFrames());
  }

  @Test
  void aStreamOfWhichClosingIsInterruptedIsClosedWithItsClient() throws Exception {
    fake.hold = new CountDownLatch(1);
    SubmissionStream stream = submit(Batching.DEFAULT, QUICK);
    send(stream, 0, 7);
    CompletableFuture<Throwable> interrupted = new CompletableFuture<>();
    Thread closing =
        new Thread(
            () -> interrupted.complete(assertThrows(VidscoreException.class, stream::close)));
    closing.start();
    until("the wait", () -> closing.getState() == Thread.State.TIMED_WAITING);
    closing.interrupt();
    Throwable failure = interrupted.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertInstanceOf(CallCancelledException.class, failure);
    fake.hold.countDown();
    until("the delivery", () -> stream.undeliveredFrames() == 0);
    client.close();
    until("the end of the stream's thread", () -> !Support.streamsRun());
    assertEquals(numbers(7), fake.stored);
  }

  @Test
  void aStreamThatCouldNotBeClosedInItsCallbackIsClosedWithItsClient() {
    CompletableFuture<SubmissionStream> opened = new CompletableFuture<>();
    Delivery closing =
        QUICK.withOnAcknowledged(
            count -> assertThrows(CallbackException.class, opened.join()::close));
    SubmissionStream stream = submit(Batching.DEFAULT, closing);
    opened.complete(stream);
    send(stream, 0, 1);
    stream.flush(LIMIT);
    send(stream, 1, 2);
    client.close();
    assertEquals(numbers(2), fake.stored);
    assertEquals(0, stream.undeliveredFrames());
  }

  @Test
  void timesMayBeLongerThanClocksCount() {
    Duration forever = ChronoUnit.FOREVER.getDuration();
    Retry retry = Retry.DEFAULT.withMaximum(forever).withGiveUpAfter(forever);
    Delivery delivery =
        Delivery.DEFAULT
            .withRetry(retry)
            .withAcknowledgeTimeout(forever)
            .withCloseTimeout(forever);
    Batching batching = Batching.DEFAULT.withBatchInterval(forever).withBlockTimeout(forever);
    fake.before.add(refusal(Code.UNAVAILABLE, ""));
    fake.before.add(refusal(Code.UNAVAILABLE, ""));
    SubmitOptions options =
        SubmitOptions.DEFAULT
            .withSubmission("run")
            .withBatching(batching)
            .withDelivery(delivery);
    try (VidscoreClient unhurried = site.client().timeout(forever).retry(retry).build();
        SubmissionStream stream = unhurried.submit("streets", options)) {
      send(stream, 0, 3);
      assertEquals(3, stream.flush(forever));
    }
    assertEquals(numbers(3), fake.stored);
  }

  @Test
  void closingInVainSaysHowManyFramesAreGivenUpAndAbortingAsksForNothing() {
    fake.hold = new CountDownLatch(1);
    SubmissionStream stream =
        submit(Batching.DEFAULT, QUICK.withCloseTimeout(Duration.ofMillis(20)));
    send(stream, 0, 7);
    DeadlineException failure = assertThrows(DeadlineException.class, stream::close);
    assertEquals("7 frames dropped: not durable within 0.02 s", failure.message());
    assertEquals(7, stream.undeliveredFrames());
    stream.close(); // the error was reported already
    assertThrows(DeadlineException.class, () -> stream.seal(7));
    SubmissionStream left = submit(Batching.DEFAULT, QUICK);
    send(left, 0, 7);
    left.abort();
    left.close();
    assertEquals(7, left.undeliveredFrames());
    fake.hold.countDown();
  }

  @Test
  void aSubmissionThatIsAnothersIsNotTakenAndAQuotaIsTold() {
    fake.creation = refusal(Code.ALREADY_EXISTS, "NAME_TAKEN");
    ConflictException taken =
        assertThrows(ConflictException.class, () -> submit(Batching.DEFAULT, QUICK));
    assertEquals("NAME_TAKEN", taken.reason());
    fake.creation = refusal(Code.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED");
    assertThrows(QuotaExceededException.class, () -> submit(Batching.DEFAULT, QUICK));
    assertThrows(InputException.class, () -> client.submit("a/b", SubmitOptions.DEFAULT));
  }

  @Test
  void aBenchmarkOfWhichTheShapeOfDetectionsIsNotKnownYetTakesNone() {
    fake.geometry = io.github.vidscore.v1.Geometry.GEOMETRY_UNSPECIFIED;
    ConflictException early =
        assertThrows(ConflictException.class, () -> submit(Batching.DEFAULT, QUICK));
    assertEquals("BENCHMARK_NOT_OPEN", early.reason());
    assertEquals(0, fake.creations);
  }

  @Test
  void aLostAnswerToSealingIsAskedForAgainAndACountThatDiffersIsTold() {
    fake.state = io.github.vidscore.v1.SubmissionState.SUBMISSION_STATE_OPEN;
    fake.sealings.add(refusal(Code.UNAVAILABLE, ""));
    ConflictException differs =
        assertThrows(ConflictException.class, () -> client.sealSubmission("streets/run", 5));
    assertEquals("FRAME_COUNT_DIFFERS", differs.reason());
    assertEquals(SubmissionState.SEALED, client.sealSubmission("streets/run", -1).state());
  }

  @Test
  void aWatchGoesOnFromTheRevisionItHasUntilTheSubmissionHasEnded() {
    fake.watchScript.addAll(
        Arrays.asList(
            at(3, SubmissionState.OPEN),
            null,
            at(4, SubmissionState.SEALED),
            null,
            null,
            at(9, SubmissionState.SCORED)));
    List<SubmissionState> states = new ArrayList<>();
    try (SubmissionWatch watch = client.watchSubmission("streets/run", LIMIT)) {
      watch.forEachRemaining(update -> states.add(update.submission().state()));
    }
    assertEquals(
        List.of(SubmissionState.OPEN, SubmissionState.SEALED, SubmissionState.SCORED), states);
    assertEquals(4, fake.revisions.get(fake.revisions.size() - 1));
    assertThrows(
        DeadlineException.class,
        () -> client.awaitSubmission("streets/run", Duration.ofMillis(20)));
  }

  private static WatchSubmissionResponse at(long revision, SubmissionState state) {
    WatchSubmissionResponse.Builder response = WatchSubmissionResponse.newBuilder();
    response
        .getSubmissionBuilder()
        .setName(FakeSubmissions.NAME)
        .setRevision(revision)
        .setState(
            io.github.vidscore.v1.SubmissionState.valueOf("SUBMISSION_STATE_" + state.name()));
    return response.build();
  }
}

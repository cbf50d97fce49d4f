package io.github.vidscore.client;

import static io.github.vidscore.client.Support.LIMIT;
import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.boxes;
import static io.github.vidscore.client.Support.numbers;
import static io.github.vidscore.client.Support.refusal;
import static io.github.vidscore.client.Support.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.vidscore.v1.ScoreRequest;
import io.github.vidscore.v1.ScoreResponse;
import io.github.vidscore.v1.ScoringServiceGrpc.ScoringServiceImplBase;
import io.grpc.Status.Code;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Scoring streams: their requests, their responses and their ends. */
class ScoreStreamTest {
  private static final io.github.vidscore.v1.BenchmarkSpec NOTHING =
      io.github.vidscore.v1.BenchmarkSpec.getDefaultInstance();

  private final Fake fake = new Fake();
  private final Support.Site site = new Support.Site(fake);
  private final VidscoreClient client = site.client().build();

  /**
   * Sends a live report for each message of detections, and the number of received frames as the
   * final report.
   */
  private static final class Fake extends ScoringServiceImplBase {
    RuntimeException refuse; // instead of accepting the configuration
    boolean silent; // whether the configuration is never answered
    boolean unfinished; // whether the call ends without a final report
    RuntimeException afterFrames; // instead of taking frames
    String version = VidscoreClient.VERSION;
    volatile CountDownLatch hold = new CountDownLatch(0); // frames wait for it
    String title = "";
    int batches;
    final List<Integer> truth = Collections.synchronizedList(new ArrayList<>());
    final List<Integer> detections = Collections.synchronizedList(new ArrayList<>());

    @Override
    public StreamObserver<ScoreRequest> score(StreamObserver<ScoreResponse> answer) {
      return new StreamObserver<>() {
        private boolean over;

        @Override
        public void onNext(ScoreRequest request) {
          try {
            if (!over) {
              take(request, answer);
            }
          } catch (RuntimeException failure) {
            over = true;
            answer.onError(failure);
          }
        }

        @Override
        public void onError(Throwable cancelled) {}

        @Override
        public void onCompleted() {
          if (over) {
            return;
          }
          if (!unfinished) {
            answer.onNext(finalReport());
          }
          answer.onCompleted();
        }
      };
    }

    private void take(ScoreRequest request, StreamObserver<ScoreResponse> answer) {
      if (request.hasConfiguration()) {
        start(request, answer);
        return;
      }
      try {
        hold.await(LIMIT.toSeconds(), TimeUnit.SECONDS);
      } catch (InterruptedException stopped) {
        throw refusal(Code.UNAVAILABLE, "");
      }
      if (afterFrames != null) {
        throw afterFrames;
      }
      batches++;
      request.getTruth().getFrameNumbersList().forEach(number -> truth.add(number.intValue()));
      if (request.hasDetections()) {
        request
            .getDetections()
            .getFrameNumbersList()
            .forEach(number -> detections.add(number.intValue()));
        ScoreResponse.Builder live = ScoreResponse.newBuilder();
        live.getLiveBuilder().getCoverageBuilder().setPairedFrames(detections.size());
        answer.onNext(live.build());
      }
    }

    private void start(ScoreRequest request, StreamObserver<ScoreResponse> answer) {
      if (refuse != null) {
        throw refuse;
      }
      title = request.getConfiguration().getSpecification().getTitle();
      if (!silent) {
        ScoreResponse.Builder started = ScoreResponse.newBuilder();
        started.getStartedBuilder().setServerVersion(version).putLimits("maximum_batch_frames", 5);
        answer.onNext(started.build());
      }
    }

    private ScoreResponse finalReport() {
      ScoreResponse.Builder message = ScoreResponse.newBuilder();
      io.github.vidscore.v1.Report.Builder report = message.getFinalBuilder().addReportsBuilder();
      report
          .addScoresBuilder()
          .setMeasure("frames")
          .getValueBuilder()
          .setCount(truth.size() + detections.size());
      report.addScoresBuilder().setMeasure("half").getValueBuilder().setNumber(0.5);
      report.addScoresBuilder().setMeasure("nothing").getValueBuilder();
      return message.build();
    }
  }

  @AfterEach
  void theThreadsOfStreamsEndWithThem() {
    client.close();
    fake.hold.countDown();
    site.close();
    until("the end of the streams' threads", () -> !Support.streamsRun());
  }

  private static ScoreOptions.Builder byFake() {
    return ScoreOptions.of("fake");
  }

  @Test
  void framesComeInOrderInMessagesOfTheServersSizeAndTheReportHasEveryKindOfValue() {
    try (ScoreStream stream = client.scoreStream(byFake().build())) {
      assertEquals(5, stream.limits().get("maximum_batch_frames"));
      for (Frame frame : boxes(0, 12)) {
        stream.sendTruth(frame);
        stream.send(frame);
      }
      stream.sendBatch(Side.DETECTIONS, boxes(12, 20));
      Report report = stream.finish(LIMIT).get(0);
      assertEquals(Optional.of(Value.ofCount(32)), report.value("frames"));
      assertEquals(Optional.of(Value.ofNumber(0.5)), report.value("half"));
      assertEquals(Optional.of(Value.UNDEFINED), report.value("nothing"));
      assertEquals(Optional.empty(), report.value("frames", "elsewhere", null, null));
      assertThrows(ClosedException.class, () -> stream.send(box(20)));
    }
    assertEquals(numbers(12), fake.truth);
    assertEquals(numbers(20), fake.detections);
    assertTrue(fake.batches >= 7, fake.batches + " messages of at most 5 frames for 32");
  }

  @Test
  void scoreSendsBothSidesAndGivesTheFinalReports() {
    ScoreOptions options =
        byFake()
            .specification(
                io.github.vidscore.v1.BenchmarkSpec.newBuilder().setTitle("streets").build())
            .build();
    Report report = client.score(boxes(0, 700), boxes(0, 300), options).get(0);
    assertEquals(Optional.of(Value.ofCount(1000)), report.value("frames"));
    assertEquals("streets", fake.title);
  }

  @Test
  void liveReportsComeToTheListenerAndToReadersAndOldOnesAreDropped() {
    List<Long> told = Collections.synchronizedList(new ArrayList<>());
    ScoreOptions options =
        byFake()
            .batching(Batching.DEFAULT.withBatchFrames(1))
            .live(
                Live.everyFrames(1)
                    .withKeepReports(3)
                    .withOnReport(report -> told.add(report.coverage().pairedFrames())))
            .build();
    List<Long> read = new ArrayList<>();
    try (ScoreStream stream = client.scoreStream(options)) {
      stream.sendBatch(Side.DETECTIONS, boxes(0, 10));
      stream.finish(LIMIT);
      for (Optional<LiveReport> report = stream.nextLiveReport();
          report.isPresent();
          report = stream.nextLiveReport()) {
        read.add(report.get().coverage().pairedFrames());
      }
      assertEquals(10, stream.latest().orElseThrow().coverage().pairedFrames());
    }
    assertEquals(told.stream().sorted().toList(), told);
    assertEquals(told.subList(told.size() - 3, told.size()), read);
    assertEquals(10, read.get(2));
  }

  @Test
  void whatTheServerRefusesIsToldAtOpeningAtTheNextCallAndByFinish() {
    fake.refuse = refusal(Code.INVALID_ARGUMENT, "INVALID_FIELD");
    InvalidArgumentException refused =
        assertThrows(InvalidArgumentException.class, () -> client.scoreStream(byFake().build()));
    assertEquals("INVALID_FIELD", refused.reason());
    fake.refuse = null;
    fake.afterFrames = refusal(Code.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED");
    try (ScoreStream stream = client.scoreStream(byFake().build())) {
      stream.sendBatch(Side.TRUTH, boxes(0, 1));
      assertThrows(LimitExceededException.class, () -> stream.finish(LIMIT));
      assertThrows(LimitExceededException.class, () -> stream.send(box(1)));
      assertThrows(LimitExceededException.class, stream::nextLiveReport);
    }
  }

  @Test
  void serversThatSayTooLittleOrAreOfAnotherVersionAreNotWaitedFor() {
    fake.silent = true;
    try (VidscoreClient hurried = site.client().timeout(Duration.ofMillis(20)).build()) {
      assertThrows(DeadlineException.class, () -> hurried.scoreStream(byFake().build()));
    }
    fake.silent = false;
    fake.version = "9.0.0";
    VersionException apart =
        assertThrows(VersionException.class, () -> client.scoreStream(byFake().build()));
    assertEquals("9.0.0", apart.metadata().get("server_version"));
    fake.version = "";
    fake.unfinished = true;
    try (ScoreStream stream = client.scoreStream(byFake().build())) {
      assertThrows(InternalException.class, () -> stream.finish(LIMIT));
    }
  }

  @Test
  void aStreamEndsWithItsTimeWhenItIsClosedAndByAListenerThatThrows() {
    fake.hold = new CountDownLatch(1);
    try (ScoreStream stream =
        client.scoreStream(byFake().timeout(Duration.ofMillis(500)).build())) {
      stream.sendBatch(Side.TRUTH, boxes(0, 1));
      assertThrows(DeadlineException.class, () -> stream.finish(LIMIT));
    }
    fake.hold.countDown();
    ScoreStream closed = client.scoreStream(byFake().build());
    closed.close();
    assertThrows(CallCancelledException.class, () -> closed.send(box(0)));
    RuntimeException mistake = new IllegalStateException("mistake");
    assertCauseOfTheEnd(
        mistake,
        report -> {
          throw mistake;
        });
  }

  @Test
  void anErrorThatAListenerThrowsIsTheCauseOfTheStreamsEnd() {
    AssertionError mistake = new AssertionError("mistake");
    assertCauseOfTheEnd(
        mistake,
        report -> {
          throw mistake;
        });
  }

  private void assertCauseOfTheEnd(Throwable mistake, Consumer<LiveReport> throwing) {
    Live live = Live.everyFrames(1).withOnReport(throwing);
    try (ScoreStream stream = client.scoreStream(byFake().live(live).build())) {
      stream.sendBatch(Side.DETECTIONS, boxes(0, 1));
      CallbackException failure = assertThrows(CallbackException.class, () -> stream.finish(LIMIT));
      assertSame(mistake, failure.getCause());
    }
  }

  @Test
  void aFinishThatIsOutOfTimeLeavesTheStreamAsItIs() {
    fake.hold = new CountDownLatch(1);
    try (ScoreStream stream = client.scoreStream(byFake().build())) {
      stream.sendBatch(Side.TRUTH, boxes(0, 1));
      assertThrows(DeadlineException.class, () -> stream.finish(Duration.ofMillis(1)));
      fake.hold.countDown();
      assertEquals(1, stream.finish(LIMIT).size());
    }
  }

  @Test
  void optionsAndFramesWithAMistakeAreRefusedBeforeAnythingIsSent() {
    assertThrows(InputException.class, () -> client.scoreStream(ScoreOptions.by(NOTHING).build()));
    Evaluator wrong = new Evaluator("f1", java.util.Map.of("tau", new Object()));
    assertThrows(InputException.class, () -> client.scoreStream(ScoreOptions.of(wrong).build()));
    assertThrows(InputException.class, () -> new Evaluator("\ud800"));
    assertThrows(InputException.class, () -> Frame.of("\ud800", 0).build());
    try (ScoreStream stream = client.scoreStream(byFake().build())) {
      for (Frame.Builder frame :
          List.of(
              Frame.of("a", 0).coordinates(1, 2, 3),
              Frame.of("a", 0).labels("car"),
              Frame.of("a", 0).coordinates(1, 2, 3, 4).labels("\ud800"),
              Frame.of("a", 0).coordinates(1, 2, 3, 4).confidences(1, 1),
              Frame.of("a", 0).coordinates(1, 2, 3, 4).trackIds(),
              Frame.of("a", 0).coordinates(1, 2, 3, 4).flags(0, 0),
              Frame.of("a", 0).coordinates(1, 2, 3, 4).column("area"))) {
        assertThrows(InputException.class, () -> stream.send(frame.build()));
      }
    }
  }
}

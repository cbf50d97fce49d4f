package io.github.vidscore.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Any;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import io.github.vidscore.v1.AnnotationBatch;
import io.github.vidscore.v1.BenchmarkServiceGrpc.BenchmarkServiceImplBase;
import io.github.vidscore.v1.EvaluatorServiceGrpc.EvaluatorServiceImplBase;
import io.github.vidscore.v1.GetLeaderboardRequest;
import io.github.vidscore.v1.GetLeaderboardResponse;
import io.github.vidscore.v1.GetServerRequest;
import io.github.vidscore.v1.GetServerResponse;
import io.github.vidscore.v1.ListEvaluatorsRequest;
import io.github.vidscore.v1.ListEvaluatorsResponse;
import io.github.vidscore.v1.ServerServiceGrpc.ServerServiceImplBase;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Clients: settings, lists, errors, names and messages. */
class ClientTest {
  private final Headers headers = new Headers();
  private final Support.Site site = new Support.Site(headers, new Evaluators(), new Boards(), new Servers());

  /** Records the metadata of calls, and ends each call with a version. */
  private static final class Headers implements ServerInterceptor {
    volatile Metadata seen;
    String version = VidscoreClient.VERSION;

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
        ServerCall<Q, R> call, Metadata metadata, ServerCallHandler<Q, R> next) {
      seen = metadata;
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
              trailers.put(Versions.SERVER, version);
              super.close(status, trailers);
            }
          },
          metadata);
    }
  }

  /** Lists in pages of one. */
  private static final class Evaluators extends EvaluatorServiceImplBase {
    @Override
    public void listEvaluators(
        ListEvaluatorsRequest request, StreamObserver<ListEvaluatorsResponse> answer) {
      ListEvaluatorsResponse.Builder page = ListEvaluatorsResponse.newBuilder();
      if (request.getPageToken().isEmpty()) {
        page.setNextPageToken("more")
            .addEvaluatorsBuilder()
            .setName("evaluators/f1")
            .addTruthGeometries(io.github.vidscore.v1.Geometry.GEOMETRY_BOX)
            .addTruthGeometriesValue(99)
            .addMeasuresBuilder()
            .setDirection(io.github.vidscore.v1.Direction.DIRECTION_HIGHER);
      } else {
        page.addEvaluatorsBuilder().setName("evaluators/spotgeo");
      }
      answer.onNext(page.build());
      answer.onCompleted();
    }
  }

  /** Describes itself. */
  private static final class Servers extends ServerServiceImplBase {
    @Override
    public void getServer(GetServerRequest request, StreamObserver<GetServerResponse> answer) {
      GetServerResponse.Builder response = GetServerResponse.newBuilder();
      response
          .getServerBuilder()
          .setVersion("0.1.0")
          .setOldestClientVersion("0.0")
          .setNewestClientVersion("0.2")
          .setHosting(true)
          .getTimeBuilder()
          .setSeconds(60);
      answer.onNext(response.build());
      answer.onCompleted();
    }
  }

  /** Has one board, in pages of one. */
  private static final class Boards extends BenchmarkServiceImplBase {
    @Override
    public void getLeaderboard(
        GetLeaderboardRequest request, StreamObserver<GetLeaderboardResponse> answer) {
      GetLeaderboardResponse.Builder page = GetLeaderboardResponse.newBuilder();
      if (request.getPageToken().isEmpty()) {
        page.setNextPageToken("more")
            .addRowsBuilder()
            .setRank(1)
            .addScoresBuilder()
            .setMeasure("f1")
            .setValue(0.5);
      } else {
        page.addRanking("f1").addRowsBuilder().setRank(2).addScoresBuilder().setMeasure("f1");
      }
      answer.onNext(page.build());
      answer.onCompleted();
    }
  }

  @AfterEach
  void stop() {
    site.close();
  }

  @Test
  void listsAreReadPageByPageAndTokenAndVersionGoWithEachCall() {
    try (VidscoreClient client = site.client().token("secret").build()) {
      List<EvaluatorDescription> evaluators = client.evaluators();
      assertEquals(
          List.of("f1", "spotgeo"), evaluators.stream().map(EvaluatorDescription::name).toList());
      assertEquals(Direction.HIGHER, evaluators.get(0).measures().get(0).direction());
      assertEquals(List.of(Geometry.BOX), evaluators.get(0).truthGeometries());
      assertEquals("Bearer secret", header("authorization"));
      assertEquals(VidscoreClient.VERSION, header("vidscore-client-version"));
      Leaderboard board = client.leaderboard("streets");
      assertEquals(0.5, board.rows().get(0).scores().get("f1"));
      assertNull(board.rows().get(1).scores().get("f1"));
      assertEquals(List.of("f1"), board.ranking());
    }
  }

  private String header(String name) {
    return headers.seen.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
  }

  @Test
  void aServerTellsOfItself() {
    try (VidscoreClient client = site.client().build()) {
      ServerInfo expected =
          new ServerInfo("0.1.0", "0.0", "0.2", Instant.ofEpochSecond(60), true, false);
      assertEquals(expected, client.server());
    }
  }

  @Test
  void callsThatTheServerDoesNotHaveAndClosedClientsAreToldApart() {
    VidscoreClient client = site.client().build();
    assertThrows(UnsupportedException.class, () -> client.evaluator("f1"));
    assertThrows(UnsupportedException.class, client::health);
    client.close();
    client.close();
    assertThrows(ClosedException.class, client::evaluators);
  }

  @Test
  void aServerOfAVersionTooFarAwayIsRefused() {
    headers.version = "9.0.0";
    try (VidscoreClient client = site.client().build()) {
      VersionException apart = assertThrows(VersionException.class, client::evaluators);
      assertEquals("VERSION_UNSUPPORTED", apart.reason());
      assertTrue(apart.message().endsWith("update vidscore-client"), apart.message());
    }
    for (String server : List.of("0.0.9", "0.1.7", "0.2.0-rc1", "unknown", "", "1.2")) {
      boolean far = server.equals("1.2");
      assertEquals(far, isRefused(server, "0.1.0"), server);
    }
    assertTrue(isRefused("0.9.0", "1.0.0"));
    assertTrue(isRefused("2.1.0", "2.3.0"));
  }

  private static boolean isRefused(String server, String client) {
    try {
      Versions.check(server, client);
      return false;
    } catch (VersionException apart) {
      return true;
    }
  }

  @Test
  void settingsWithAMistakeAreRefusedAndNoTextShowsTheToken() {
    for (String target : new String[] {null, "", "localhost", "local host:1", "localhost:99999"}) {
      assertThrows(InputException.class, () -> VidscoreClient.connect(target));
    }
    for (String target : List.of("my_host:1", "a..b:1", "-x:1")) {
      InputException unnamed =
          assertThrows(InputException.class, () -> VidscoreClient.connect(target));
      String found = "target: found \"" + target + "\", expected a host name";
      assertTrue(unnamed.message().startsWith(found), unnamed.message());
    }
    ClientBuilder local = VidscoreClient.builder("localhost:1");
    ClientBuilder remote = VidscoreClient.builder("example.org:1").token("secret");
    InputException plaintext = assertThrows(InputException.class, remote::build);
    assertFalse(plaintext.getMessage().contains("secret"));
    InputException spaced = assertThrows(InputException.class, () -> local.token("sec ret"));
    assertFalse(spaced.getMessage().contains("sec"));
    assertThrows(InputException.class, () -> local.token(""));
    assertThrows(InputException.class, () -> local.timeout(Duration.ZERO));
    assertThrows(InputException.class, () -> new Tls(null, Path.of("only.pem"), null, null));
    assertThrows(
        InputException.class, () -> local.tls(Tls.trusting(Path.of("absent.pem"))).build());
    InputException often = assertThrows(InputException.class, () -> pingEvery(9));
    assertEquals("interval: found 9 s, expected 10 s or more", often.getMessage());
    remote.allowPlaintextToken().build().close();
    for (String target : List.of("127.0.0.1:1", "[::1]:1", "localhost:1", "dns:///localhost:1")) {
      VidscoreClient.builder(target).token("secret").build().close();
    }
    VidscoreClient.builder("example.org:1").token("secret").tls(Tls.SYSTEM).build().close();
  }

  private static Keepalive pingEvery(int seconds) {
    return new Keepalive(Duration.ofSeconds(seconds), Duration.ofSeconds(1));
  }

  @Test
  void filesThatAreNoCertificatesAreRefusedByTheNameOfTheFile(@TempDir Path folder)
      throws IOException {
    Path junk = Files.writeString(folder.resolve("junk.pem"), "junk\n");
    for (Tls tls : List.of(Tls.trusting(junk), new Tls(null, junk, junk, null))) {
      ClientBuilder local = VidscoreClient.builder("localhost:1").tls(tls);
      InputException refused = assertThrows(InputException.class, local::build);
      assertTrue(refused.message().contains("junk.pem without a CERTIFICATE"), refused.message());
    }
    ClientBuilder local = VidscoreClient.builder("localhost:1").tls(Tls.trusting(folder));
    InputException unread = assertThrows(InputException.class, local::build);
    assertTrue(unread.message().contains(folder.toString()), unread.message());
  }

  @Test
  void namesAreTakenAsPeopleTypeThemOrInFull() {
    String full = "benchmarks/streets/submissions/run";
    assertEquals(full, Names.submission("streets/run"));
    assertEquals(full, Names.submission(full));
    for (String wrong : List.of("", "streets", "streets/", "a/b/c", "benchmarks/a/tokens/b")) {
      assertThrows(InputException.class, () -> Names.submission(wrong));
    }
  }

  @Test
  void anErrorHasEverythingThatTheServerSaid() {
    com.google.rpc.Status status =
        com.google.rpc.Status.newBuilder()
            .setCode(Status.Code.INVALID_ARGUMENT.value())
            .setMessage("two things are wrong")
            .addDetails(
                Any.pack(ErrorInfo.newBuilder().setDomain("elsewhere").setReason("OTHER").build()))
            .addDetails(
                Any.pack(
                    ErrorInfo.newBuilder()
                        .setDomain("vidscore")
                        .setReason("INVALID_FIELD")
                        .putMetadata("violations", "3")
                        .build()))
            .addDetails(
                Any.pack(
                    BadRequest.newBuilder()
                        .addFieldViolations(
                            BadRequest.FieldViolation.newBuilder()
                                .setField("truth.coordinates[3]")
                                .setDescription("found nan"))
                        .addFieldViolations(
                            BadRequest.FieldViolation.newBuilder().setDescription("nothing fits"))
                        .build()))
            .build();
    VidscoreException failure = Statuses.exceptionOf(StatusProto.toStatusRuntimeException(status));
    assertEquals(InvalidArgumentException.class, failure.getClass());
    assertEquals("INVALID_ARGUMENT", failure.code());
    assertEquals("INVALID_FIELD", failure.reason());
    assertEquals(3, failure.violationCount());
    assertEquals(
        "two things are wrong\n  truth.coordinates[3]: found nan\n  nothing fits\n  ... and 1 more",
        failure.getMessage());
    VidscoreException plain = Statuses.exceptionOf(Status.UNAVAILABLE.asRuntimeException());
    assertEquals("the call ended with UNAVAILABLE", plain.message());
    assertEquals("UNAVAILABLE", plain.reason());
    assertTrue(plain.isRetryable());
  }

  @Test
  void columnsOfDefaultsAreLeftOutAndFurtherColumnsKeepTheirNames() throws Exception {
    Frame empty = Frame.of("b", 4).domain("d").build();
    AnnotationBatch plain = Encoding.frames(List.of(Support.box(3), empty), Geometry.BOX);
    assertEquals(
        message(
            "sequences { sequence: \"a\" } sequences { domain: \"d\" sequence: \"b\" }"
                + " frame_sequences: [0, 1] frame_numbers: [3, 4] frame_object_counts: [1, 0]"
                + " geometry: GEOMETRY_BOX coordinates: [1.0, 2.0, 3.0, 4.0]"),
        plain);
    assertEquals(
        message(
            "sequences { sequence: \"a\" } frame_sequences: [0, 0] frame_numbers: [0, 1]"
                + " frame_object_counts: [0, 0] geometry: GEOMETRY_BOX frame_times_s: [nan, 1.5]"),
        Encoding.frames(
            List.of(Frame.of("a", 0).build(), Frame.of("a", 1).timeS(1.5).build()), Geometry.BOX));
    Frame rich =
        Frame.of("a", 0)
            .dontCare()
            .coordinates(1, 2, 3, 4, 5, 6, 7, 8)
            .labels("car", "")
            .confidences(1, 0.5)
            .trackIds(-1, 9)
            .flags(0, ObjectFlag.CROWD | ObjectFlag.IGNORE)
            .column("b", 1, 2)
            .column("a", 3, 4)
            .build();
    assertEquals(
        message(
            "sequences { sequence: \"a\" } labels: [\"car\", \"\"]"
                + " frame_sequences: 0 frame_numbers: 0 frame_object_counts: 2 frame_flags: 1"
                + " geometry: GEOMETRY_BOX coordinates: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]"
                + " label_indices: [0, 1] confidences: [1.0, 0.5] track_ids: [-1, 9]"
                + " object_flags: [0, 3] columns { name: \"a\" values: [3.0, 4.0] }"
                + " columns { name: \"b\" values: [1.0, 2.0] }"),
        Encoding.frames(List.of(rich), Geometry.BOX));
  }

  private static AnnotationBatch message(String text) throws Exception {
    return com.google.protobuf.TextFormat.parse(text, AnnotationBatch.class);
  }

  @Test
  void valuesAreToldApartAndPrintAsTheyRead() {
    assertEquals("3", Value.ofCount(3).toString());
    assertEquals("0.1", Value.ofNumber(0.1).toString());
    assertEquals("undefined", Value.UNDEFINED.toString());
    assertTrue(Value.ofNumber(3).asCount().isEmpty());
    assertEquals(3.0, Value.ofCount(3).asDouble().getAsDouble());
    assertFalse(Value.ofCount(3).equals(Value.ofNumber(3)));
  }
}

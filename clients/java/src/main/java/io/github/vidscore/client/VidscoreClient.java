package io.github.vidscore.client;

import io.github.vidscore.v1.GetBenchmarkRequest;
import io.github.vidscore.v1.GetEvaluatorRequest;
import io.github.vidscore.v1.GetLeaderboardRequest;
import io.github.vidscore.v1.GetLeaderboardResponse;
import io.github.vidscore.v1.GetServerRequest;
import io.github.vidscore.v1.ListBenchmarksRequest;
import io.github.vidscore.v1.ListEvaluatorsRequest;
import io.github.vidscore.v1.OpenStreamRequest;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A connection to a server.
 *
 * <pre>{@code
 * try (VidscoreClient client = VidscoreClient.connect("localhost:50051");
 *     ScoreStream stream = client.scoreStream(ScoreOptions.of("neovision2").build())) {
 *   stream.sendTruth(Frame.of("walk", 0).coordinates(10, 10, 50, 90).labels("Person").build());
 *   stream.send(Frame.of("walk", 0).coordinates(12, 9, 51, 88).labels("Person").build());
 *   Report report = stream.finish().get(0);
 * }
 * }</pre>
 *
 * <p>Every method may be called from any thread, and a client may have any number of streams open.
 * Closing it closes them.
 */
public final class VidscoreClient implements AutoCloseable {
  /** Version of this client and of the server of the same release. */
  public static final String VERSION = "0.2.0";

  private final ManagedChannel channel;
  private final Calls calls;
  private final Submissions submissions;
  private final Duration timeout;
  private final Retry retry;
  private final Set<ScoreStream> scoring = ConcurrentHashMap.newKeySet();
  private final Set<SubmissionStream> submitting = ConcurrentHashMap.newKeySet();

  VidscoreClient(ManagedChannel channel, Duration timeout, Retry retry) {
    this.channel = channel;
    this.calls = new Calls(channel, timeout);
    this.submissions = new Submissions(calls);
    this.timeout = timeout;
    this.retry = retry;
  }

  /**
   * Makes a client of a server, without encryption and without a token.
   *
   * @param target address: {@code host:port} or {@code [address]:port}
   * @return the client; the first call opens the connection
   * @throws InputException if the address is invalid
   */
  public static VidscoreClient connect(String target) {
    return builder(target).build();
  }

  /**
   * Begins to build a client of a server.
   *
   * @param target address: {@code host:port} or {@code [address]:port}
   * @return the builder
   * @throws InputException if the address is invalid
   */
  public static ClientBuilder builder(String target) {
    return new ClientBuilder(target);
  }

  /**
   * The server; it answers clients of any version.
   *
   * @return its description
   */
  public ServerInfo server() {
    var request = GetServerRequest.getDefaultInstance();
    return Decoding.server(calls.servers(stub -> stub.getServer(request)).getServer());
  }

  /**
   * All evaluators of the server, built-in ones first.
   *
   * @return the evaluators
   */
  public List<EvaluatorDescription> evaluators() {
    return Calls.pages(
        token -> {
          var request = ListEvaluatorsRequest.newBuilder().setPageToken(token).build();
          var page = calls.evaluators(stub -> stub.listEvaluators(request));
          return new Calls.Page<>(
              page.getEvaluatorsList().stream().map(Decoding::evaluator).toList(),
              page.getNextPageToken());
        });
  }

  /**
   * One evaluator.
   *
   * @param name its name
   * @return the evaluator
   * @throws NotFoundException if the server has none of that name
   */
  public EvaluatorDescription evaluator(String name) {
    var request =
        GetEvaluatorRequest.newBuilder().setName("evaluators/" + Checks.text("name", name)).build();
    return Decoding.evaluator(calls.evaluators(stub -> stub.getEvaluator(request)).getEvaluator());
  }

  /**
   * Whether the whole server accepts calls, by the standard health protocol.
   *
   * @return its state
   */
  public Health health() {
    return health("");
  }

  /**
   * Whether a service accepts calls, by the standard health protocol.
   *
   * @param service full name of the service; empty for the whole server
   * @return its state
   * @throws NotFoundException if the server does not know the service
   */
  public Health health(String service) {
    int number = calls.checkHealth(Checks.text("service", service));
    boolean known = number >= 0 && number < Health.values().length;
    return known ? Health.values()[number] : Health.UNKNOWN;
  }

  /**
   * Opens a stream that takes truth and detections frame by frame.
   *
   * @param options what to score, and how
   * @return the stream, which the server has accepted
   * @throws InvalidArgumentException if the server refuses the configuration
   * @throws UnavailableException if the server cannot be reached
   * @throws VidscoreException if the stream cannot be opened for another reason
   */
  public ScoreStream scoreStream(ScoreOptions options) {
    ScoreStream stream = calls.score(options, scoring::remove);
    scoring.add(stream);
    try {
      stream.awaitStart(timeout);
      return stream;
    } catch (RuntimeException failure) {
      stream.close();
      throw failure;
    }
  }

  /**
   * Sends all frames and waits for the final reports.
   *
   * @param truth frames of the truth
   * @param detections frames of detections
   * @param options what to score, and how
   * @return a report for each evaluator, in the requested order
   * @throws VidscoreException if the server refuses it or fails
   */
  public List<Report> score(List<Frame> truth, List<Frame> detections, ScoreOptions options) {
    Batching unhurried = options.batching().withPolicy(Policy.BLOCK).withBlockTimeout(null);
    int piece = unhurried.batchFrames();
    try (ScoreStream stream = scoreStream(options.withBatching(unhurried))) {
      // Alternate between both sides, so that few frames wait for the other side.
      for (int first = 0; first < Math.max(truth.size(), detections.size()); first += piece) {
        stream.sendBatch(Side.TRUTH, part(truth, first, piece));
        stream.sendBatch(Side.DETECTIONS, part(detections, first, piece));
      }
      return stream.finish();
    }
  }

  /**
   * Opens a stream of detections into a submission to a hosted benchmark.
   *
   * <p>The submission is created if it does not exist. A program that dies and starts again
   * continues by naming the same submission and stream: {@link SubmissionStream#nextOffset} is the
   * number of durable frames, and replay leaves exactly these out.
   *
   * @param benchmark the benchmark
   * @param options how the detections are sent
   * @return the stream
   * @throws NotFoundException if there is no such benchmark
   * @throws ConflictException if the benchmark takes no detections yet
   * @throws QuotaExceededException if the team may have no more submissions
   * @throws SubmissionEndedException if the submission takes no more frames
   * @throws VidscoreException if the stream cannot be opened for another reason
   */
  public SubmissionStream submit(String benchmark, SubmitOptions options) {
    Benchmark hosted = benchmark(benchmark);
    if (hosted.detectionGeometry() == null) {
      throw Failure.of(
              hosted.name()
                  + " takes no detections yet: their geometry follows from the truth,"
                  + " which has not been uploaded")
          .withReason("BENCHMARK_NOT_OPEN")
          .exception(ConflictException.class);
    }
    Submission found = submissions.findOrCreate(hosted.name(), options);
    var request =
        OpenStreamRequest.newBuilder()
            .setSubmission(found.name())
            .setStream(options.stream())
            .build();
    var answer = calls.submissions(stub -> stub.openStream(request));
    StreamInfo info = Decoding.stream(answer.getStream());
    Sender.Opened opened = new Sender.Opened(found, info, hosted.detectionGeometry());
    Batching batching = options.batching().keepingTo(answer.getLimitsMap());
    SubmissionStream stream =
        new SubmissionStream(calls, opened, options.withBatching(batching), submitting::remove);
    submitting.add(stream);
    return stream;
  }

  /**
   * One hosted benchmark, as far as the caller may see it.
   *
   * @param benchmark the benchmark
   * @return the benchmark
   * @throws NotFoundException if there is none of that name
   */
  public Benchmark benchmark(String benchmark) {
    var request = GetBenchmarkRequest.newBuilder().setName(Names.benchmark(benchmark)).build();
    return Decoding.benchmark(calls.benchmarks(stub -> stub.getBenchmark(request)).getBenchmark());
  }

  /**
   * All hosted benchmarks.
   *
   * @return the benchmarks, sorted by name
   */
  public List<Benchmark> benchmarks() {
    return Calls.pages(
        token -> {
          var request = ListBenchmarksRequest.newBuilder().setPageToken(token).build();
          var page = calls.benchmarks(stub -> stub.listBenchmarks(request));
          return new Calls.Page<>(
              page.getBenchmarksList().stream().map(Decoding::benchmark).toList(),
              page.getNextPageToken());
        });
  }

  /**
   * Submissions to a benchmark in rank order, by its first evaluator and over everything.
   *
   * @param benchmark the benchmark
   * @return the board
   */
  public Leaderboard leaderboard(String benchmark) {
    return leaderboard(benchmark, "", null, null);
  }

  /**
   * Submissions to a benchmark in rank order.
   *
   * @param benchmark the benchmark
   * @param evaluator evaluator that ranks; empty for the first one of the specification
   * @param domain domain; null for all together
   * @param label label; null for all together
   * @return the board
   * @throws ConflictException if the policy does not release such a board
   */
  public Leaderboard leaderboard(
      String benchmark, String evaluator, String domain, String label) {
    GetLeaderboardRequest.Builder request =
        GetLeaderboardRequest.newBuilder()
            .setBenchmark(Names.benchmark(benchmark))
            .setEvaluator(Checks.text("evaluator", evaluator));
    if (domain != null) {
      request.setDomain(Checks.text("domain", domain));
    }
    if (label != null) {
      request.setLabel(Checks.text("label", label));
    }
    List<GetLeaderboardResponse> pages = new ArrayList<>();
    List<LeaderboardRow> rows =
        Calls.pages(
            token -> {
              var asked = request.setPageToken(token).build();
              var page = calls.benchmarks(stub -> stub.getLeaderboard(asked));
              pages.add(page);
              return new Calls.Page<>(
                  page.getRowsList().stream().map(Decoding::leaderboardRow).toList(),
                  page.getNextPageToken());
            });
    GetLeaderboardResponse last = pages.get(pages.size() - 1);
    return new Leaderboard(
        rows,
        List.copyOf(last.getRankingList()),
        last.getTruthRevision(),
        last.getNewestTruthRevision());
  }

  /**
   * Opens a submission.
   *
   * @param benchmark the benchmark
   * @param name last part of its name: 1 to 63 lower-case letters, digits and hyphens, a letter
   *     first; empty: the server chooses
   * @param title title for people
   * @return the submission
   * @throws ConflictException if the name is taken, or the benchmark accepts no submissions now
   * @throws QuotaExceededException if the team may have no more
   */
  public Submission createSubmission(String benchmark, String name, String title) {
    return submissions.create(benchmark, name, title);
  }

  /**
   * One submission.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @return the submission
   * @throws NotFoundException if there is none of that name, or the caller may not see it
   */
  public Submission getSubmission(String submission) {
    return calls.getSubmission(submission);
  }

  /**
   * The submissions that the caller may see.
   *
   * @param benchmark the benchmark
   * @return the submissions, newest first
   */
  public List<Submission> listSubmissions(String benchmark) {
    return submissions.list(benchmark);
  }

  /**
   * Ends the appends of a submission, which is then scored. Sealing again changes nothing.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @param expectedFrames number of frames that must be durable in all streams together; negative
   *     for any number
   * @return the submission
   * @throws ConflictException if another number of frames is durable, with reason {@code
   *     FRAME_COUNT_DIFFERS}; nothing is sealed
   */
  public Submission sealSubmission(String submission, long expectedFrames) {
    return submissions.seal(submission, expectedFrames, retry);
  }

  /**
   * Cancels a submission.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @return the submission
   */
  public Submission cancelSubmission(String submission) {
    return submissions.cancel(submission);
  }

  /**
   * Follows a submission until it has ended.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @param timeout longest time that it may take; null for no limit
   * @return the updates as they come
   */
  public SubmissionWatch watchSubmission(String submission, Duration timeout) {
    return new SubmissionWatch(calls, Names.submission(submission), timeout, retry);
  }

  /**
   * Waits until a submission has ended: it is scored, has failed, or was cancelled.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @param timeout longest time to wait; null for no limit
   * @return the submission
   * @throws DeadlineException if it has not ended in time; it continues
   */
  public Submission awaitSubmission(String submission, Duration timeout) {
    return submissions.await(submission, timeout, retry);
  }

  /**
   * The scores of a submission that the caller may see.
   *
   * @param submission its name, {@code benchmark/submission} or in full
   * @return the scores, newest first
   */
  public List<SubmissionScore> scores(String submission) {
    return submissions.scores(submission);
  }

  /**
   * Closes all open streams and the connection; may be called again. Streams into submissions
   * deliver the frames that they have accepted, as their own {@code close} does; streams that score
   * end at once.
   *
   * @throws VidscoreException the error of a stream that could not deliver everything; the others
   *     are closed all the same
   */
  @Override
  public void close() {
    List<VidscoreException> failures = new ArrayList<>();
    for (SubmissionStream stream : submitting) {
      try {
        stream.close();
      } catch (VidscoreException failure) {
        failures.add(failure);
      }
    }
    abort();
    if (!failures.isEmpty()) {
      VidscoreException first = failures.remove(0);
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  /** Ends all open streams at once, drops what is not delivered, and closes the connection. */
  public void abort() {
    submitting.forEach(SubmissionStream::abort);
    scoring.forEach(ScoreStream::close);
    channel.shutdownNow();
  }

  private static List<Frame> part(List<Frame> frames, int first, int piece) {
    return frames.subList(Math.min(first, frames.size()), Math.min(first + piece, frames.size()));
  }
}

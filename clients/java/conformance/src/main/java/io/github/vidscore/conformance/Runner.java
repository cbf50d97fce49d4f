package io.github.vidscore.conformance;

import static io.github.vidscore.conformance.Output.document;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import io.github.vidscore.client.ClientBuilder;
import io.github.vidscore.client.Frame;
import io.github.vidscore.client.Live;
import io.github.vidscore.client.Measure;
import io.github.vidscore.client.ScoreOptions;
import io.github.vidscore.client.ScoreStream;
import io.github.vidscore.client.Submission;
import io.github.vidscore.client.SubmissionState;
import io.github.vidscore.client.SubmissionStream;
import io.github.vidscore.client.SubmissionUpdate;
import io.github.vidscore.client.SubmissionWatch;
import io.github.vidscore.client.SubmitOptions;
import io.github.vidscore.client.Tls;
import io.github.vidscore.client.VidscoreClient;
import io.github.vidscore.client.VidscoreException;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * The runner of the conformance suite: one command of the client, one JSON object on standard
 * output. The contract of the suite defines its options and output.
 */
public final class Runner {
  private static final int USAGE = 2;
  private static final int REFUSED = 3;
  private static final int KILLED = 9;

  /** One command; returns the document to print. */
  private interface Command {
    Object run(VidscoreClient client, Options options) throws IOException;
  }

  private static final Map<String, Command> COMMANDS =
      Map.of(
          "evaluators",
          (client, options) -> evaluators(client),
          "health",
          (client, options) -> document("status", client.health().name()),
          "score",
          Runner::score,
          "submit",
          Runner::submit,
          "watch",
          Runner::watch,
          "get",
          (client, options) ->
              document(
                  "submission",
                  Output.submission(client.getSubmission(options.text("submission", "")))),
          "cancel",
          (client, options) ->
              document(
                  "submission",
                  Output.submission(client.cancelSubmission(options.text("submission", "")))),
          "leaderboard",
          Runner::leaderboard);

  private Runner() {}

  /**
   * Runs one command.
   *
   * @param arguments its name and options
   * @throws IOException if a file cannot be read
   */
  public static void main(String[] arguments) throws IOException {
    String name = arguments.length == 0 ? "" : arguments[0];
    if (name.equals("version")) {
      show(document("language", "java", "client_version", VidscoreClient.VERSION));
      return;
    }
    Command command = COMMANDS.get(name);
    if (command == null) {
      usage("no command " + name);
    }
    try {
      Options options = new Options(arguments);
      Object result;
      try (VidscoreClient client = connect(options)) {
        result = command.run(client, options);
      }
      sleep(options.number("linger-s", 0));
      show(result);
    } catch (VidscoreException failure) {
      show(document("error", Output.error(failure)));
      System.exit(REFUSED);
    } catch (IllegalArgumentException wrong) {
      usage(wrong.toString());
    }
  }

  private static void usage(String problem) {
    System.err.println("usage: runner COMMAND --option value ...: " + problem);
    System.exit(USAGE);
  }

  private static void show(Object document) {
    Gson gson = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
    new PrintStream(System.out, true, StandardCharsets.UTF_8).println(gson.toJson(document));
  }

  private static VidscoreClient connect(Options options) {
    ClientBuilder builder =
        VidscoreClient.builder(options.text("address", ""))
            .timeout(options.time("timeout-s", Duration.ofSeconds(10)))
            .keepalive(options.keepalive());
    if (options.has("token")) {
      builder.token(options.text("token", ""));
    }
    Tls tls = options.tls();
    if (!tls.equals(Tls.SYSTEM)) {
      builder.tls(tls);
    }
    return builder.build();
  }

  private static Object evaluators(VidscoreClient client) {
    return document(
        "evaluators",
        client.evaluators().stream()
            .map(
                found ->
                    document(
                        "name", found.name(),
                        "version", found.version(),
                        "title", found.title(),
                        "measures", found.measures().stream().map(Measure::name).toList()))
            .toList());
  }

  private static Object score(VidscoreClient client, Options options) throws IOException {
    Golden golden = new Golden(Path.of(options.text("frames", "")));
    List<Object> live = Collections.synchronizedList(new ArrayList<>());
    ScoreOptions.Builder wanted =
        golden.options().batching(options.batching()).timeout(options.time("deadline-s", null));
    if (options.has("live-every-frames")) {
      wanted.live(
          Live.everyFrames(options.whole("live-every-frames", 0))
              .withOnReport(
                  report ->
                      live.add(
                          document(
                              "paired_frames", report.coverage().pairedFrames(),
                              "frames_waiting_for_detections",
                                  report.coverage().framesWaitingForDetections(),
                              "frames_waiting_for_truth",
                                  report.coverage().framesWaitingForTruth()))));
    }
    try (ScoreStream stream = client.scoreStream(wanted.build())) {
      if (sendAll(stream, golden, options.whole("cancel-after-frames", 0))) {
        return document("cancelled", true);
      }
      List<?> reports = Output.reports(stream.finish());
      return document("reports", reports, "live", List.copyOf(live));
    }
  }

  /** Sends frames one by one: truth first, then detections; returns whether it was cancelled. */
  private static boolean sendAll(ScoreStream stream, Golden golden, long cancelAfter) {
    long sent = 0;
    for (String side : List.of("truth", "detections")) {
      for (Frame frame : golden.frames(side)) {
        if (side.equals("truth")) {
          stream.sendTruth(frame);
        } else {
          stream.send(frame);
        }
        if (++sent == cancelAfter) {
          stream.close();
          return true;
        }
      }
    }
    return false;
  }

  private static Object submit(VidscoreClient client, Options options) throws IOException {
    List<Frame> frames = new Golden(Path.of(options.text("frames", ""))).frames("detections");
    List<Long> acknowledged = Collections.synchronizedList(new ArrayList<>());
    long dieAt = options.whole("die-after-acknowledged", Long.MAX_VALUE);
    SubmitOptions wanted =
        SubmitOptions.named(options.text("submission", ""))
            .withStream(options.text("stream", "default"))
            .withTitle(options.text("title", ""))
            .withReplay(options.has("replay"))
            .withBatching(options.batching())
            .withDelivery(
                options.delivery(
                    count -> {
                      if (count >= dieAt) {
                        Runtime.getRuntime().halt(KILLED);
                      }
                      acknowledged.add(count);
                    }));
    SubmissionStream stream = client.submit(options.text("benchmark", ""), wanted);
    try {
      for (Frame frame : frames) {
        stream.send(frame);
        if (options.has("rate-hz")) {
          sleep(1 / options.number("rate-hz", 1));
        }
      }
      if (options.has("close")) {
        stream.close();
        return document("undelivered_frames", stream.undeliveredFrames());
      }
      long durable = stream.flush();
      Submission submission = ended(client, stream, frames.size(), options);
      return document(
          "submission", stream.submission(),
          "opened_offset", stream.nextOffset(),
          "acknowledged", List.copyOf(acknowledged),
          "acknowledged_frames", durable,
          "state", submission.state().name().toLowerCase(),
          "state_reason", submission.stateReason(),
          "frame_count", submission.frameCount(),
          "scores", Output.scores(stream.scores()));
    } finally {
      stream.abort(); // a failed stream must not wait
    }
  }

  /** The submission when it has ended or, if it is not sealed, as it is. */
  private static Submission ended(
      VidscoreClient client, SubmissionStream stream, long frames, Options options) {
    if (options.has("no-seal")) {
      return client.getSubmission(stream.submission());
    }
    stream.seal(frames);
    return stream.await(options.time("wait-s", Duration.ofSeconds(60)));
  }

  private static void sleep(double seconds) {
    try {
      Thread.sleep(Duration.ofNanos((long) (seconds * 1e9)).toMillis());
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
    }
  }

  private static Object watch(VidscoreClient client, Options options) {
    List<Object> updates = new ArrayList<>();
    SubmissionState state = SubmissionState.UNKNOWN;
    try (SubmissionWatch watch = client.watchSubmission(options.text("submission", ""), null)) {
      while (watch.hasNext()) {
        SubmissionUpdate update = watch.next();
        state = update.submission().state();
        updates.add(
            document(
                "state", state.name().toLowerCase(),
                "frame_count", update.submission().frameCount(),
                "revision", update.submission().revision()));
      }
    }
    return document("updates", updates, "state", state.name().toLowerCase());
  }

  private static Object leaderboard(VidscoreClient client, Options options) {
    return document(
        "rows",
        client.leaderboard(options.text("benchmark", "")).rows().stream()
            .map(
                row ->
                    document(
                        "rank", row.rank(),
                        "team", row.team(),
                        "submission", row.submission(),
                        "values", row.scores()))
            .toList());
  }
}

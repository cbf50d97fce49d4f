import io.github.vidscore.client.ClientBuilder;
import io.github.vidscore.client.Delivery;
import io.github.vidscore.client.Frame;
import io.github.vidscore.client.Submission;
import io.github.vidscore.client.SubmissionScore;
import io.github.vidscore.client.SubmissionStream;
import io.github.vidscore.client.SubmitOptions;
import io.github.vidscore.client.VidscoreClient;
import io.github.vidscore.client.VidscoreException;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongConsumer;

/**
 * A simulated detector at 30 Hz that sends its boxes to a hosted benchmark as they come.
 *
 * <p>Stop the server and start it again: the stream continues. Stop this program and start it again
 * with the same name: it continues, too.
 */
public final class LiveStream {
  private static final long FRAME_MS = 1000 / 30;
  private static final Duration TELL_INTERVAL = Duration.ofSeconds(1);

  private LiveStream() {}

  public static void main(String[] arguments) throws InterruptedException {
    if (arguments.length < 3 || arguments.length > 4) {
      System.err.println(
          "usage: VIDSCORE_TOKEN=... LiveStream ADDRESS BENCHMARK SUBMISSION [FRAMES]");
      System.exit(2);
    }
    long frames = arguments.length == 4 ? Long.parseLong(arguments[3]) : 300;
    ClientBuilder builder = VidscoreClient.builder(arguments[0]);
    if (System.getenv("VIDSCORE_TOKEN") != null) {
      builder.token(System.getenv("VIDSCORE_TOKEN"));
    }
    try (VidscoreClient client = builder.build()) {
      stream(client, arguments[1], arguments[2], frames);
    } catch (VidscoreException failure) {
      System.err.println(failure.getMessage());
      System.exit(1);
    }
  }

  private static void stream(VidscoreClient client, String benchmark, String name, long frames)
      throws InterruptedException {
    Delivery delivery =
        Delivery.DEFAULT.withOnAcknowledged(
            atMostEvery(TELL_INTERVAL, count -> System.out.println(count + " frames are durable")));
    SubmitOptions options = SubmitOptions.named(name).withReplay(true).withDelivery(delivery);
    try (SubmissionStream stream = client.submit(benchmark, options)) {
      for (long number = 0; number < frames; number++) {
        stream.send(detect(number));
        if (number >= stream.nextOffset()) {
          Thread.sleep(FRAME_MS); // durable frames need no waiting
        }
      }
      stream.seal(frames);
      Submission submission = stream.await(null);
      System.out.printf(
          "the submission is %s (%s)%n",
          submission.state().name().toLowerCase(Locale.ROOT), submission.stateReason());
      stream.scores().forEach(LiveStream::show);
    }
  }

  /** The output of a detector: a car that moves to the right. */
  private static Frame detect(long number) {
    return Frame.of("street", number)
        .coordinates(10 + number, 20, 50 + number, 100)
        .labels("Car")
        .confidences(0.9)
        .build();
  }

  private static LongConsumer atMostEvery(Duration interval, LongConsumer tell) {
    long[] next = {System.nanoTime()};
    return count -> {
      if (System.nanoTime() - next[0] >= 0) {
        next[0] = System.nanoTime() + interval.toNanos();
        tell.accept(count);
      }
    };
  }

  private static void show(SubmissionScore score) {
    score.report().scores().stream()
        .filter(row -> row.domain() == null && row.label() == null && row.sequence() == null)
        .forEach(row -> System.out.printf("%-30s %s%n", row.measure(), row.value()));
  }
}

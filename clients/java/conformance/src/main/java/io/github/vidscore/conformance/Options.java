package io.github.vidscore.conformance;

import io.github.vidscore.client.Batching;
import io.github.vidscore.client.Delivery;
import io.github.vidscore.client.Keepalive;
import io.github.vidscore.client.Policy;
import io.github.vidscore.client.Retry;
import io.github.vidscore.client.Tls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;

/** The options of a command, as they stand on the command line. */
final class Options {
  private static final Set<String> SWITCHES = Set.of("replay", "unary", "no-seal", "close", "until-ended");
  private static final Set<String> VALUES =
      Set.of(
          "address",
          "token",
          "ca",
          "certificate",
          "key",
          "server-name",
          "timeout-s",
          "keepalive-interval-s",
          "keepalive-timeout-s",
          "linger-s",
          "close-timeout-s",
          "frames",
          "batch-frames",
          "live-every-frames",
          "deadline-s",
          "cancel-after-frames",
          "benchmark",
          "submission",
          "stream",
          "title",
          "batch-interval-s",
          "window-frames",
          "queue-frames",
          "policy",
          "block-timeout-s",
          "acknowledge-timeout-s",
          "retry-initial-s",
          "retry-maximum-s",
          "give-up-after-s",
          "rate-hz",
          "die-after-acknowledged",
          "wait-s");

  private final Map<String, String> found = new HashMap<>();

  /** Reads {@code --option value ...}; an unknown option is an error. */
  Options(String[] arguments) {
    for (int index = 1; index < arguments.length; index++) {
      String name = arguments[index].replaceFirst("^--", "");
      if (SWITCHES.contains(name)) {
        found.put(name, "");
      } else if (VALUES.contains(name) && index + 1 < arguments.length) {
        found.put(name, arguments[++index]);
      } else {
        throw new IllegalArgumentException(arguments[index]);
      }
    }
  }

  boolean has(String name) {
    return found.containsKey(name);
  }

  String text(String name, String otherwise) {
    return found.getOrDefault(name, otherwise);
  }

  long whole(String name, long otherwise) {
    return has(name) ? Long.parseLong(found.get(name)) : otherwise;
  }

  double number(String name, double otherwise) {
    return has(name) ? Double.parseDouble(found.get(name)) : otherwise;
  }

  Duration time(String name, Duration otherwise) {
    return has(name) ? Duration.ofNanos((long) (number(name, 0) * 1e9)) : otherwise;
  }

  Tls tls() {
    return new Tls(path("ca"), path("certificate"), path("key"), found.get("server-name"));
  }

  Keepalive keepalive() {
    Keepalive usual = Keepalive.DEFAULT;
    return new Keepalive(
        time("keepalive-interval-s", usual.interval()),
        time("keepalive-timeout-s", usual.timeout()));
  }

  Batching batching() {
    Batching usual = Batching.DEFAULT;
    return usual
        .withBatchFrames((int) whole("batch-frames", usual.batchFrames()))
        .withBatchInterval(time("batch-interval-s", usual.batchInterval()))
        .withQueueFrames((int) whole("queue-frames", usual.queueFrames()))
        .withPolicy(Policy.valueOf(text("policy", "block").toUpperCase()))
        .withBlockTimeout(time("block-timeout-s", usual.blockTimeout()));
  }

  Delivery delivery(LongConsumer onAcknowledged) {
    Delivery usual = Delivery.DEFAULT;
    Retry retry =
        Retry.DEFAULT
            .withInitial(time("retry-initial-s", Retry.DEFAULT.initial()))
            .withMaximum(time("retry-maximum-s", Retry.DEFAULT.maximum()))
            .withGiveUpAfter(time("give-up-after-s", Retry.DEFAULT.giveUpAfter()));
    return usual
        .withWindowFrames((int) whole("window-frames", usual.windowFrames()))
        .withAcknowledgeTimeout(time("acknowledge-timeout-s", usual.acknowledgeTimeout()))
        .withCloseTimeout(time("close-timeout-s", usual.closeTimeout()))
        .withRetry(retry)
        .withOnAcknowledged(onAcknowledged)
        .withUnary(has("unary"));
  }

  private Path path(String name) {
    return has(name) ? Path.of(found.get(name)) : null;
  }
}

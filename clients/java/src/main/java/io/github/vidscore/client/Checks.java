package io.github.vidscore.client;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Checks of arguments. */
final class Checks {
  private Checks() {}

  static <T> T given(String argument, T found) {
    if (found == null) {
      throw Failure.input(argument, "null", "a value");
    }
    return found;
  }

  static void atLeast(String argument, long found, long least) {
    if (found < least) {
      throw Failure.input(argument, found, "at least " + least);
    }
  }

  static void atLeast(String argument, Duration found, Duration least) {
    if (found == null || found.compareTo(least) < 0) {
      throw Failure.input(
          argument, found == null ? null : seconds(found), seconds(least) + " or more");
    }
  }

  static void atLeastOrNull(String argument, Duration found, Duration least) {
    if (found != null) {
      atLeast(argument, found, least);
    }
  }

  /** A time as in messages: {@code 0.02 s}. */
  static String seconds(Duration time) {
    BigDecimal seconds =
        BigDecimal.valueOf(time.getSeconds()).add(BigDecimal.valueOf(time.getNano(), 9));
    return seconds.stripTrailingZeros().toPlainString() + " s";
  }

  /** A number with its noun: {@code 1 frame}, {@code 2 frames}. */
  static String counted(long count, String noun) {
    return count + " " + noun + (count == 1 ? "" : "s");
  }

  /** A text in quotes, cut if it is long; null as it is. */
  static String quoted(String text) {
    return text == null ? null : '"' + text.substring(0, Math.min(80, text.length())) + '"';
  }

  static void length(String argument, int found, int expected) {
    if (found != expected) {
      throw Failure.input(argument, counted(found, "value"), expected + ", one for each object");
    }
  }

  /** A string that can be sent: half of a surrogate pair is not valid Unicode. */
  static String text(String argument, String found) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(given(argument, found))) {
      throw Failure.input(argument, "half of a surrogate pair", "a Unicode string");
    }
    return found;
  }
}

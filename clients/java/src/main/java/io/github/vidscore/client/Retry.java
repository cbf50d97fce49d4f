package io.github.vidscore.client;

import java.time.Duration;

/**
 * How often and how long to try again after a break; each wait is twice the one before. If the
 * server gives a delay, no wait is shorter.
 *
 * @param initial wait before the second try; the first one is made at once
 * @param maximum maximum wait between two tries
 * @param giveUpAfter time without progress after which the last error is thrown; null for never
 */
public record Retry(Duration initial, Duration maximum, Duration giveUpAfter) {

  /** The defaults. */
  public static final Retry DEFAULT =
      new Retry(Duration.ofMillis(200), Duration.ofSeconds(10), Duration.ofMinutes(10));

  /**
   * Checks the settings.
   *
   * @param initial see {@link #initial}
   * @param maximum see {@link #maximum}
   * @param giveUpAfter see {@link #giveUpAfter}
   * @throws InputException for settings with which nothing could ever be sent
   */
  public Retry {
    Checks.atLeast("initial", initial, Duration.ofNanos(1));
    Checks.atLeast("maximum", maximum, initial);
    Checks.atLeastOrNull("giveUpAfter", giveUpAfter, Duration.ZERO);
  }

  /**
   * These settings with another initial.
   *
   * @param value wait before the second try; the first one is made at once
   * @return the settings
   */
  public Retry withInitial(Duration value) {
    return new Retry(value, maximum, giveUpAfter);
  }

  /**
   * These settings with another maximum.
   *
   * @param value maximum wait between two tries
   * @return the settings
   */
  public Retry withMaximum(Duration value) {
    return new Retry(initial, value, giveUpAfter);
  }

  /**
   * These settings with another giveUpAfter.
   *
   * @param value time without progress after which the last error is thrown; null for never
   * @return the settings
   */
  public Retry withGiveUpAfter(Duration value) {
    return new Retry(initial, maximum, value);
  }
}

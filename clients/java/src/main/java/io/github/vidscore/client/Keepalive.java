package io.github.vidscore.client;

import java.time.Duration;

/**
 * How a connection is found out that has gone silent, as some networks drop them.
 *
 * <p>While a call is open over a connection of which nothing is heard, the server is asked whether
 * it is still there. A connection over which no answer comes is given up for a new one.
 *
 * @param interval time without a word from the server after which it is asked; at least 10 s, since
 *     a server shuts out clients that ask more often
 * @param timeout time that it has to answer
 */
public record Keepalive(Duration interval, Duration timeout) {
  /** The usual settings: asked after 20 s, and 10 s to answer. */
  public static final Keepalive DEFAULT =
      new Keepalive(Duration.ofSeconds(20), Duration.ofSeconds(10));

  /**
   * Checks the settings.
   *
   * @param interval see {@link #interval}
   * @param timeout see {@link #timeout}
   * @throws InputException for questions that a server takes for an attack
   */
  public Keepalive {
    Checks.atLeast("interval", interval, Duration.ofSeconds(10));
    Checks.atLeast("timeout", timeout, Duration.ofMillis(10));
  }
}

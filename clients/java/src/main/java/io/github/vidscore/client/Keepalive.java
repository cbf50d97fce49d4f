package io.github.vidscore.client;

import java.time.Duration;

/**
 * How silent connections are detected, because some networks drop connections silently.
 *
 * <p>While a call is open over a silent connection, the server is pinged. A connection without an
 * answer is replaced by a new one.
 *
 * @param interval silence after which the server is pinged; at least 10 s, because servers
 *     disconnect clients that ping more often
 * @param timeout time to wait for its answer
 */
public record Keepalive(Duration interval, Duration timeout) {
  /** The defaults: a ping after 20 s of silence, and 10 s to wait for the answer. */
  public static final Keepalive DEFAULT =
      new Keepalive(Duration.ofSeconds(20), Duration.ofSeconds(10));

  /**
   * Checks the settings.
   *
   * @param interval see {@link #interval}
   * @param timeout see {@link #timeout}
   * @throws InputException for pings that a server takes for an attack
   */
  public Keepalive {
    Checks.atLeast("interval", interval, Duration.ofSeconds(10));
    Checks.atLeast("timeout", timeout, Duration.ofMillis(10));
  }
}

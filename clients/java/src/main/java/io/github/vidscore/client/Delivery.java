package io.github.vidscore.client;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * How frames of a submission are held until the server has acknowledged them.
 *
 * <p>Frames that are sent and not acknowledged are kept to be sent again after a break, so memory
 * is bounded by this window and the queue of {@link Batching}.
 *
 * @param windowFrames frames that are sent and not acknowledged at which no further batch is sent
 * @param windowBytes bytes of these, likewise
 * @param acknowledgeTimeout time without an acknowledgement after which a connection counts as
 *     broken
 * @param closeTimeout longest that closing the stream waits for frames to become durable before it
 *     gives them up
 * @param retry what happens after a break
 * @param onAcknowledged called with the number of durable frames of the stream whenever it has
 *     grown; null for nobody; an exception ends the stream
 * @param unary whether each batch is a call of its own, for proxies that take no streams; slower,
 *     and otherwise the same
 */
public record Delivery(
    int windowFrames,
    long windowBytes,
    Duration acknowledgeTimeout,
    Duration closeTimeout,
    Retry retry,
    LongConsumer onAcknowledged,
    boolean unary) {

  /** The usual settings. */
  public static final Delivery DEFAULT =
      new Delivery(
          4096,
          64L << 20,
          Duration.ofSeconds(30),
          Duration.ofMinutes(2),
          Retry.DEFAULT,
          null,
          false);

  /**
   * Checks the settings.
   *
   * @param windowFrames see {@link #windowFrames}
   * @param windowBytes see {@link #windowBytes}
   * @param acknowledgeTimeout see {@link #acknowledgeTimeout}
   * @param closeTimeout see {@link #closeTimeout}
   * @param retry see {@link #retry}
   * @param onAcknowledged see {@link #onAcknowledged}
   * @param unary see {@link #unary}
   * @throws InputException for settings with which nothing would be sent
   */
  public Delivery {
    Checks.atLeast("windowFrames", windowFrames, 1);
    Checks.atLeast("windowBytes", windowBytes, 1);
    Checks.atLeast("acknowledgeTimeout", acknowledgeTimeout, Duration.ofNanos(1));
    Checks.atLeast("closeTimeout", closeTimeout, Duration.ZERO);
    Checks.given("retry", retry);
  }

  /**
   * These settings with another windowFrames.
   *
   * @param value frames that are sent and not acknowledged at which no further batch is sent
   * @return the settings
   */
  public Delivery withWindowFrames(int value) {
    return new Delivery(
        value, windowBytes, acknowledgeTimeout, closeTimeout, retry, onAcknowledged, unary);
  }

  /**
   * These settings with another windowBytes.
   *
   * @param value bytes of these, likewise
   * @return the settings
   */
  public Delivery withWindowBytes(long value) {
    return new Delivery(
        windowFrames, value, acknowledgeTimeout, closeTimeout, retry, onAcknowledged, unary);
  }

  /**
   * These settings with another acknowledgeTimeout.
   *
   * @param value time without an acknowledgement after which a connection counts as broken
   * @return the settings
   */
  public Delivery withAcknowledgeTimeout(Duration value) {
    return new Delivery(
        windowFrames, windowBytes, value, closeTimeout, retry, onAcknowledged, unary);
  }

  /**
   * These settings with another closeTimeout.
   *
   * @param value longest that closing the stream waits for frames to become durable before it gives
   *     them up
   * @return the settings
   */
  public Delivery withCloseTimeout(Duration value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, value, retry, onAcknowledged, unary);
  }

  /**
   * These settings with another retry.
   *
   * @param value what happens after a break
   * @return the settings
   */
  public Delivery withRetry(Retry value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, closeTimeout, value, onAcknowledged, unary);
  }

  /**
   * These settings with another onAcknowledged.
   *
   * @param value called with the number of durable frames of the stream whenever it has grown; null
   *     for nobody; an exception ends the stream
   * @return the settings
   */
  public Delivery withOnAcknowledged(LongConsumer value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, closeTimeout, retry, value, unary);
  }

  /**
   * These settings with another unary.
   *
   * @param value whether each batch is a call of its own, for proxies that take no streams; slower,
   *     and otherwise the same
   * @return the settings
   */
  public Delivery withUnary(boolean value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, closeTimeout, retry, onAcknowledged, value);
  }
}

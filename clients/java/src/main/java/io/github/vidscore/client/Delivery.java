package io.github.vidscore.client;

import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * How frames of a submission are kept until the server has acknowledged them.
 *
 * <p>Sent but unacknowledged frames are kept to be sent again after a break, so that memory is
 * bounded by this window and the queue of {@link Batching}.
 *
 * @param windowFrames number of unacknowledged frames at which no further batch is sent
 * @param windowBytes bytes of unacknowledged frames, likewise
 * @param acknowledgeTimeout time without an acknowledgement after which a connection counts as
 *     broken
 * @param closeTimeout longest time that closing the stream waits for frames to become durable
 *     before it drops them
 * @param retry what happens after a break
 * @param onAcknowledged called with the stream's number of durable frames whenever it has grown;
 *     null for nobody; an exception ends the stream
 * @param unary whether each batch is a separate call, for proxies without streams; slower,
 *     otherwise the same
 */
public record Delivery(
    int windowFrames,
    long windowBytes,
    Duration acknowledgeTimeout,
    Duration closeTimeout,
    Retry retry,
    LongConsumer onAcknowledged,
    boolean unary) {

  /** The defaults. */
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
   * @throws InputException for settings with which nothing could ever be sent
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
   * @param value number of unacknowledged frames at which no further batch is sent
   * @return the settings
   */
  public Delivery withWindowFrames(int value) {
    return new Delivery(
        value, windowBytes, acknowledgeTimeout, closeTimeout, retry, onAcknowledged, unary);
  }

  /**
   * These settings with another windowBytes.
   *
   * @param value bytes of unacknowledged frames, likewise
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
   * @param value longest time that closing the stream waits for frames to become durable before it
   *     drops them
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
   * @param value called with the stream's number of durable frames whenever it has grown; null for
   *     nobody; an exception ends the stream
   * @return the settings
   */
  public Delivery withOnAcknowledged(LongConsumer value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, closeTimeout, retry, value, unary);
  }

  /**
   * These settings with another unary.
   *
   * @param value whether each batch is a separate call, for proxies without streams; slower,
   *     otherwise the same
   * @return the settings
   */
  public Delivery withUnary(boolean value) {
    return new Delivery(
        windowFrames, windowBytes, acknowledgeTimeout, closeTimeout, retry, onAcknowledged, value);
  }
}

package io.github.vidscore.client;

import java.time.Duration;
import java.util.Map;

/**
 * How frames are batched into messages, and how many may wait.
 *
 * <p>A frame is sent at most {@code batchInterval} after it was given, unless the server accepts no
 * more; then frames wait in the queue. The frames of one call enter the queue if they fit or the
 * queue is empty, so that memory is bounded by the queue and one call.
 *
 * @param batchFrames maximum frames of a message
 * @param batchBytes maximum bytes of a message, unless a single frame is larger
 * @param batchInterval longest time that a frame waits for others
 * @param queueFrames maximum frames that wait to be sent, both sides together
 * @param queueBytes maximum bytes that wait to be sent
 * @param policy what happens to the caller if the queue is full
 * @param blockTimeout longest time that {@link Policy#BLOCK} waits before it throws {@link
 *     BackPressureException}; null for no limit
 */
public record Batching(
    int batchFrames,
    int batchBytes,
    Duration batchInterval,
    int queueFrames,
    long queueBytes,
    Policy policy,
    Duration blockTimeout) {

  /** The defaults. */
  public static final Batching DEFAULT =
      new Batching(
          256,
          1 << 20,
          Duration.ofMillis(100),
          4096,
          64L << 20,
          Policy.BLOCK,
          Duration.ofSeconds(30));

  /**
   * Checks the settings.
   *
   * @param batchFrames see {@link #batchFrames}
   * @param batchBytes see {@link #batchBytes}
   * @param batchInterval see {@link #batchInterval}
   * @param queueFrames see {@link #queueFrames}
   * @param queueBytes see {@link #queueBytes}
   * @param policy see {@link #policy}
   * @param blockTimeout see {@link #blockTimeout}
   * @throws InputException for settings with which nothing could ever be sent
   */
  public Batching {
    Checks.atLeast("batchFrames", batchFrames, 1);
    Checks.atLeast("batchBytes", batchBytes, 1);
    Checks.atLeast("batchInterval", batchInterval, Duration.ZERO);
    Checks.atLeast("queueFrames", queueFrames, 1);
    Checks.atLeast("queueBytes", queueBytes, 1);
    Checks.given("policy", policy);
    Checks.atLeastOrNull("blockTimeout", blockTimeout, Duration.ZERO);
  }

  /**
   * These settings with another batchFrames.
   *
   * @param value maximum frames of a message
   * @return the settings
   */
  public Batching withBatchFrames(int value) {
    return new Batching(
        value, batchBytes, batchInterval, queueFrames, queueBytes, policy, blockTimeout);
  }

  /**
   * These settings with another batchBytes.
   *
   * @param value maximum bytes of a message, unless a single frame is larger
   * @return the settings
   */
  public Batching withBatchBytes(int value) {
    return new Batching(
        batchFrames, value, batchInterval, queueFrames, queueBytes, policy, blockTimeout);
  }

  /**
   * These settings with another batchInterval.
   *
   * @param value longest time that a frame waits for others
   * @return the settings
   */
  public Batching withBatchInterval(Duration value) {
    return new Batching(
        batchFrames, batchBytes, value, queueFrames, queueBytes, policy, blockTimeout);
  }

  /**
   * These settings with another queueFrames.
   *
   * @param value maximum frames that wait to be sent, both sides together
   * @return the settings
   */
  public Batching withQueueFrames(int value) {
    return new Batching(
        batchFrames, batchBytes, batchInterval, value, queueBytes, policy, blockTimeout);
  }

  /**
   * These settings with another queueBytes.
   *
   * @param value maximum bytes that wait to be sent
   * @return the settings
   */
  public Batching withQueueBytes(long value) {
    return new Batching(
        batchFrames, batchBytes, batchInterval, queueFrames, value, policy, blockTimeout);
  }

  /**
   * These settings with another policy.
   *
   * @param value what happens to the caller if the queue is full
   * @return the settings
   */
  public Batching withPolicy(Policy value) {
    return new Batching(
        batchFrames, batchBytes, batchInterval, queueFrames, queueBytes, value, blockTimeout);
  }

  /**
   * These settings with another blockTimeout.
   *
   * @param value longest time that {@link Policy#BLOCK} waits before it throws {@link
   *     BackPressureException}; null for no limit
   * @return the settings
   */
  public Batching withBlockTimeout(Duration value) {
    return new Batching(
        batchFrames, batchBytes, batchInterval, queueFrames, queueBytes, policy, value);
  }

  /** With no larger messages than a server accepts, as far as it states its limits. */
  Batching keepingTo(Map<String, Long> limits) {
    long frames = limits.getOrDefault("maximum_batch_frames", (long) batchFrames);
    // The other half is for the tables of names, which the outbox does not count.
    long bytes = limits.getOrDefault("maximum_message_bytes", 2L * batchBytes) / 2;
    return withBatchFrames((int) Math.max(1, Math.min(batchFrames, frames)))
        .withBatchBytes((int) Math.max(1, Math.min(batchBytes, bytes)));
  }
}

package io.github.vidscore.client;

/** What happens to the caller if the queue is full. */
public enum Policy {
  /** Waits for room, at most for the block timeout. */
  BLOCK,
  /** Throws {@link BackPressureException} at once. */
  RAISE
}

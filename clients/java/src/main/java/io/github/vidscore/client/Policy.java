package io.github.vidscore.client;

/** What a full queue does to the caller. */
public enum Policy {
  /** Waits for room, at most for the block timeout. */
  BLOCK,
  /** Throws {@link BackPressureException} at once. */
  RAISE
}

package io.github.vidscore.client;

/** Which of the two inputs of a score frames belong to. */
public enum Side {
  /** What is there. */
  TRUTH,
  /** What a system says is there. */
  DETECTIONS
}

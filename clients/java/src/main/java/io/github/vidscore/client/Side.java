package io.github.vidscore.client;

/** The side of frames. */
public enum Side {
  /** The ground truth. */
  TRUTH,
  /** What a system detected. */
  DETECTIONS
}

package io.github.vidscore.client;

/** State of a submission. */
public enum SubmissionState {
  /** This client does not know it. */
  UNKNOWN,
  /** Created; no frames have arrived. */
  OPEN,
  /** Frames have arrived. */
  RECEIVING,
  /** No more frames are accepted; scoring has not begun. */
  SEALED,
  /** Sealed, and waiting for missing truth. */
  WAITING_FOR_TRUTH,
  /** Being scored. */
  SCORING,
  /** Scored. */
  SCORED,
  /** Could not be scored; the reason says why. */
  FAILED,
  /** Cancelled. */
  CANCELLED;

  /**
   * Whether the state changes no more by itself.
   *
   * @return whether it has ended
   */
  public boolean hasEnded() {
    return this == SCORED || this == FAILED || this == CANCELLED;
  }
}

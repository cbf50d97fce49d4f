package io.github.vidscore.client;

/** Where a submission stands. */
public enum SubmissionState {
  /** This client does not know it. */
  UNKNOWN,
  /** Created; nothing has come. */
  OPEN,
  /** Frames have come. */
  RECEIVING,
  /** No more frames are taken; scoring has not begun. */
  SEALED,
  /** Sealed, and waiting for truth that is not there yet. */
  WAITING_FOR_TRUTH,
  /** Being scored. */
  SCORING,
  /** Scored. */
  SCORED,
  /** Could not be scored; the reason says why. */
  FAILED,
  /** Given up. */
  CANCELLED;

  /**
   * Whether nothing more happens by itself.
   *
   * @return whether it has ended
   */
  public boolean hasEnded() {
    return this == SCORED || this == FAILED || this == CANCELLED;
  }
}

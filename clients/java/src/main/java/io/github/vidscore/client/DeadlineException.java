package io.github.vidscore.client;

/** It took longer than the caller wanted to wait. */
public final class DeadlineException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  DeadlineException(Failure failure) {
    super(failure);
  }
}

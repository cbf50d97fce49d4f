package io.github.vidscore.client;

/** The caller's timeout was exceeded. */
public final class DeadlineException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  DeadlineException(Failure failure) {
    super(failure);
  }
}

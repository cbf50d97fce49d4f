package io.github.vidscore.client;

/** The stream is finished, or the client is closed. */
public final class ClosedException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  ClosedException(Failure failure) {
    super(failure);
  }
}

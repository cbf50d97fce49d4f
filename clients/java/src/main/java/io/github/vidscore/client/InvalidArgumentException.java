package io.github.vidscore.client;

/** The server refuses what was sent; the violations say what and where. */
public final class InvalidArgumentException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  InvalidArgumentException(Failure failure) {
    super(failure);
  }
}

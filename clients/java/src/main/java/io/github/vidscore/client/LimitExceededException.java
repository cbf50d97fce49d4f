package io.github.vidscore.client;

/** A limit of the server is reached; the text names it. */
public class LimitExceededException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  LimitExceededException(Failure failure) {
    super(failure);
  }
}

package io.github.vidscore.client;

/** The request does not fit the server's state; the reason says why. */
public class ConflictException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  ConflictException(Failure failure) {
    super(failure);
  }
}

package io.github.vidscore.client;

/** The request does not fit the state that the server is in; the reason says how. */
public class ConflictException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  ConflictException(Failure failure) {
    super(failure);
  }
}

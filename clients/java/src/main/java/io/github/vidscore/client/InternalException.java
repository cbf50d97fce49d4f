package io.github.vidscore.client;

/** The server failed, or answered what this client cannot understand. */
public final class InternalException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  InternalException(Failure failure) {
    super(failure);
  }
}

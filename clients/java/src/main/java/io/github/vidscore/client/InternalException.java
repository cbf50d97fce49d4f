package io.github.vidscore.client;

/** The server failed, or this client cannot understand its answer. */
public final class InternalException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  InternalException(Failure failure) {
    super(failure);
  }
}

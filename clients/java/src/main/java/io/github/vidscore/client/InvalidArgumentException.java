package io.github.vidscore.client;

/** The server refuses the request; the violations state its faults. */
public final class InvalidArgumentException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  InvalidArgumentException(Failure failure) {
    super(failure);
  }
}

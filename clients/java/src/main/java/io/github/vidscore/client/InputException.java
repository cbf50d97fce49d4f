package io.github.vidscore.client;

/** An argument has the wrong shape; nothing was sent. */
public final class InputException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  InputException(Failure failure) {
    super(failure);
  }
}

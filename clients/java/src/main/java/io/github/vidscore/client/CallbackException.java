package io.github.vidscore.client;

/** A callback of the caller threw the cause; the stream has ended. */
public final class CallbackException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  CallbackException(Failure failure) {
    super(failure);
  }
}

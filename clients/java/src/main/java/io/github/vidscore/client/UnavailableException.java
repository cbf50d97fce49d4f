package io.github.vidscore.client;

/** The server cannot be reached, or is shutting down. */
public final class UnavailableException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  UnavailableException(Failure failure) {
    super(failure);
  }

  /** {@return true} */
  @Override
  public boolean isRetryable() {
    return true;
  }
}

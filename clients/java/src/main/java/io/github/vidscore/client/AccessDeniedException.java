package io.github.vidscore.client;

/** The token is missing, unknown, or not allowed to do this. */
public final class AccessDeniedException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  AccessDeniedException(Failure failure) {
    super(failure);
  }
}

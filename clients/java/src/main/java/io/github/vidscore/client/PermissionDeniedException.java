package io.github.vidscore.client;

/**
 * The token is missing, unknown, or not allowed to do this. Other clients call it access denied, a
 * name that {@code java.nio.file} already uses.
 */
public final class PermissionDeniedException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  PermissionDeniedException(Failure failure) {
    super(failure);
  }
}

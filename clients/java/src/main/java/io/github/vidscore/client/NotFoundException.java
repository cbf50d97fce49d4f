package io.github.vidscore.client;

/** There is no resource of that name. */
public final class NotFoundException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  NotFoundException(Failure failure) {
    super(failure);
  }
}

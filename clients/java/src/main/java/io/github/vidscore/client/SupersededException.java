package io.github.vidscore.client;

/** A newer writer has opened the same stream of the submission; this one must stop. */
public final class SupersededException extends ConflictException {
  private static final long serialVersionUID = 1L;

  SupersededException(Failure failure) {
    super(failure);
  }
}

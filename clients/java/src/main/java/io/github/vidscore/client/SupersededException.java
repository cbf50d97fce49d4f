package io.github.vidscore.client;

/** A younger writer has opened the same stream of the submission; this one may not go on. */
public final class SupersededException extends ConflictException {
  private static final long serialVersionUID = 1L;

  SupersededException(Failure failure) {
    super(failure);
  }
}

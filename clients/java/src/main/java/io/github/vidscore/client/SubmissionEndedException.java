package io.github.vidscore.client;

/** The submission is sealed or cancelled and takes no more frames. */
public final class SubmissionEndedException extends ConflictException {
  private static final long serialVersionUID = 1L;

  SubmissionEndedException(Failure failure) {
    super(failure);
  }
}

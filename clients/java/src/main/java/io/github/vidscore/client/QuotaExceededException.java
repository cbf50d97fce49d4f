package io.github.vidscore.client;

/** The team's quota of submissions to the benchmark is used up. */
public final class QuotaExceededException extends LimitExceededException {
  private static final long serialVersionUID = 1L;

  QuotaExceededException(Failure failure) {
    super(failure);
  }
}

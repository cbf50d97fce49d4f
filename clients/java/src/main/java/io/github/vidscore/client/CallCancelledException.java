package io.github.vidscore.client;

/** The call was cancelled by this side. */
public final class CallCancelledException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  CallCancelledException(Failure failure) {
    super(failure);
  }
}

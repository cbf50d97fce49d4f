package io.github.vidscore.client;

/** This client cancelled the call, or somebody cancelled work on the server. */
public final class CallCancelledException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  CallCancelledException(Failure failure) {
    super(failure);
  }
}

package io.github.vidscore.client;

/** The server does not have this call: it hosts no benchmarks, or is older. */
public final class UnsupportedException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  UnsupportedException(Failure failure) {
    super(failure);
  }
}

package io.github.vidscore.client;

/** The queue of a stream is full: its frames were not queued; the stream continues. */
public final class BackPressureException extends VidscoreException {
  private static final long serialVersionUID = 1L;

  BackPressureException(Failure failure) {
    super(failure);
  }
}

package io.github.vidscore.client;

import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.DoubleSupplier;

/**
 * Counts tries. It does no I/O and reads no clock: its caller passes the time and does the waiting.
 */
final class Retrying {
  /** Codes of a connection that broke at any hop, and of a server that restarts. */
  private static final Set<String> BREAKS =
      Set.of("UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL");

  /** Reasons of a server that another offset, or time, resolves. */
  private static final Set<String> PASSING_REASONS =
      Set.of("OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL");

  private final Retry retry;
  private final DoubleSupplier chance;
  private int breaks;
  private long sinceNs;

  Retrying(Retry retry) {
    this(retry, () -> ThreadLocalRandom.current().nextDouble());
  }

  /** With numbers from 0 to 1, so that many clients do not return at the same time. */
  Retrying(Retry retry, DoubleSupplier chance) {
    this.retry = retry;
    this.chance = chance;
  }

  /** Whether the same call may succeed over another connection, or later. */
  static boolean isBreak(VidscoreException failure) {
    if (failure.retryDelay().isPresent()) {
      return true; // the server itself says so
    }
    if (failure instanceof InternalException && failure.metadata().containsKey("incident")) {
      return false; // the server itself failed at this request, and would again
    }
    return BREAKS.contains(failure.code()) || PASSING_REASONS.contains(failure.reason());
  }

  /** The error of a call that the server ended without an error before it was done. */
  static VidscoreException endedEarly() {
    return Failure.unavailable("the server ended the call");
  }

  /** Tries since the last progress. */
  int breaks() {
    return breaks;
  }

  /** Records that something has succeeded. */
  void progress() {
    breaks = 0;
  }

  /**
   * Nanoseconds before the next try, at least as long as the server wants. Throws if a retry is
   * useless or would be too late.
   */
  long delayNs(VidscoreException failure, long nowNs) {
    if (!isBreak(failure)) {
      throw failure.again();
    }
    return delayNsAgain(failure, nowNs);
  }

  /** The same for a failure after which the next try may succeed whatever its kind. */
  long delayNsAgain(VidscoreException failure, long nowNs) {
    if (breaks == 0) {
      sinceNs = nowNs;
    }
    long wantedNs = failure.retryDelay().map(Monitor::saturatedNs).orElse(0L);
    if (retry.giveUpAfter() != null) {
      long leftNs = Monitor.saturatedNs(retry.giveUpAfter()) - (nowNs - sinceNs);
      if ((leftNs <= 0 && breaks > 0) || wantedNs > leftNs) {
        throw failure.again();
      }
    }
    breaks++;
    return Math.max(wantedNs, ownDelayNs());
  }

  private long ownDelayNs() {
    if (breaks == 1) {
      return 0;
    }
    int doublings = Math.min(breaks - 2, 60); // bounded, so that the power stays finite
    double whole =
        Math.min(Monitor.saturatedNs(retry.maximum()), Monitor.saturatedNs(retry.initial()) * Math.pow(2, doublings));
    return (long) (whole * (1 + chance.getAsDouble()) / 2);
  }
}

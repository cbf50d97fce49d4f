package io.github.vidscore.client;

import io.github.vidscore.v1.WatchSubmissionRequest;
import io.github.vidscore.v1.WatchSubmissionResponse;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;

/**
 * A submission now and after each change, until it has ended; made by {@link
 * VidscoreClient#watchSubmission}. It reconnects automatically after a break.
 *
 * <p>{@link #hasNext} waits, and throws {@link DeadlineException} if the submission has not ended
 * in time. One thread at a time may use it; any thread may close it.
 */
public final class SubmissionWatch implements Iterator<SubmissionUpdate>, AutoCloseable {
  /** Time after which a call is replaced: proxies end calls that are silent for a minute. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(45);

  private final Calls calls;
  private final String name;
  private final Duration timeout;
  private final long limitNs;
  private final Retry retry;
  private final Retrying tries;
  private final Monitor monitor = new Monitor();
  private final Queue<SubmissionUpdate> unread = new ArrayDeque<>();
  private Exchange<WatchSubmissionRequest, WatchSubmissionResponse> exchange;
  private long revision;
  private boolean ended;
  private boolean closed;

  SubmissionWatch(Calls calls, String name, Duration timeout, Retry retry) {
    this.calls = calls;
    this.name = name;
    this.timeout = timeout;
    this.limitNs = Monitor.limitNs(timeout);
    this.retry = retry;
    this.tries = new Retrying(retry);
  }

  @Override
  public boolean hasNext() {
    while (true) {
      Exchange<WatchSubmissionRequest, WatchSubmissionResponse> call = connected();
      if (call == null) {
        return false;
      }
      boolean found =
          monitor.holding(
              () -> {
                monitor.await(() -> !unread.isEmpty() || call.over() || closed, null);
                return !unread.isEmpty();
              });
      if (found) {
        return true;
      }
      goOn(call);
    }
  }

  @Override
  public SubmissionUpdate next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the submission has ended");
    }
    return monitor.holding(
        () -> {
          SubmissionUpdate update = unread.remove();
          ended = update.submission().state().hasEnded();
          revision = Math.max(revision, update.submission().revision());
          return update;
        });
  }

  /** Ends the watch; may be called again. */
  @Override
  public void close() {
    Exchange<?, ?> present =
        monitor.holding(
            () -> {
              closed = true;
              monitor.signal();
              return exchange;
            });
    if (present != null) {
      present.cancel();
    }
  }

  /** The present call, or a new one; null after the end. */
  private Exchange<WatchSubmissionRequest, WatchSubmissionResponse> connected() {
    if (monitor.holding(() -> ended || closed)) {
      close();
      return null;
    }
    if (exchange != null) {
      return exchange;
    }
    Duration call = CALL_TIMEOUT;
    if (timeout != null) {
      Duration left = Duration.ofNanos(Math.max(1, limitNs - System.nanoTime()));
      call = left.compareTo(call) < 0 ? left : call;
    }
    Exchange<WatchSubmissionRequest, WatchSubmissionResponse> fresh =
        new Exchange<>(monitor, this::receive);
    calls.watch(
        WatchSubmissionRequest.newBuilder().setName(name).setFromRevision(revision).build(),
        call,
        fresh);
    monitor.holding(() -> exchange = fresh);
    return fresh;
  }

  private void receive(WatchSubmissionResponse response) {
    SubmissionUpdate update = Decoding.update(response);
    monitor.holding(
        () -> {
          tries.progress();
          unread.add(update);
          monitor.signal();
        });
  }

  /** Waits after a call has ended; throws if a retry is useless. */
  private void goOn(Exchange<WatchSubmissionRequest, WatchSubmissionResponse> call) {
    VidscoreException failure = monitor.holding(call::failure);
    exchange = null;
    if (monitor.holding(() -> closed)) {
      call.cancel(); // which close has not, if it came while the call was being started
      return;
    }
    if (Monitor.isOver(limitNs)) {
      throw Failure.deadline(
          "the submission has not ended within " + Checks.seconds(timeout) + "; it continues");
    }
    if (failure instanceof DeadlineException) {
      tries.progress(); // nothing has happened for a while, and nothing failed
      calls.pause(Monitor.saturatedNs(retry.initial()));
    } else {
      VidscoreException problem = failure == null ? Retrying.endedEarly() : failure;
      long delayNs = tries.delayNs(problem, System.nanoTime());
      long leftNs = timeout == null ? delayNs : Math.max(0, limitNs - System.nanoTime());
      calls.pause(Math.min(delayNs, leftNs));
    }
  }
}

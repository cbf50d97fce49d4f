package io.github.vidscore.client;

import io.github.vidscore.v1.AnnotationBatch;
import io.github.vidscore.v1.AppendRequest;
import io.github.vidscore.v1.AppendResponse;
import java.time.Duration;
import java.util.List;

/**
 * Delivers the frames of an append stream on its own thread: connects, sends, and continues after
 * breaks.
 */
final class Sender {
  /** An append stream that was opened for this writer. */
  record Opened(Submission submission, StreamInfo stream, Geometry geometry) {
    /** The message of a batch; the same batch always gives the same message. */
    AppendRequest append(AppendState.Sent batch) {
      AnnotationBatch detections = Encoding.frames(batch.frames(), geometry);
      return AppendRequest.newBuilder()
          .setStream(submission.name() + "/streams/" + stream.stream())
          .setEpoch(stream.epoch())
          .setOffset(batch.offset())
          .setDetections(detections)
          .setDetectionsCrc32(Encoding.checksum(detections))
          .build();
    }
  }

  private final Calls calls;
  private final Opened opened;
  private final Batching batching;
  private final Delivery delivery;
  private final Monitor monitor = new Monitor();
  private final AppendState state;
  private boolean left; // whether this client has closed or aborted it
  private volatile Thread teller; // the one that runs onAcknowledged
  private long told; // the last number passed to onAcknowledged
  private Exchange<AppendRequest, AppendResponse> exchange; // the present call, if any

  Sender(Calls calls, Opened opened, SubmitOptions options) {
    this.calls = calls;
    this.opened = opened;
    this.batching = options.batching();
    this.delivery = options.delivery();
    this.told = opened.stream().nextOffset();
    this.state =
        new AppendState(
            opened.stream(), opened.geometry().arity(), batching, delivery, options.replay());
    Thread thread = new Thread(this::run, "vidscore-submission");
    thread.setDaemon(true);
    thread.start();
  }

  long acknowledged() {
    return monitor.holding(state::acknowledged);
  }

  boolean ended() {
    return monitor.holding(state::ended);
  }

  int breaks() {
    return monitor.holding(() -> state.retrying().breaks());
  }

  /** Queues frames; if the queue is full, does what the policy says. */
  void put(List<Frame> frames, boolean alone) {
    frames.forEach(frame -> frame.checked(opened.geometry().arity()));
    monitor.holding(
        () -> {
          monitor.awaitRoom(
              () -> state.admit(frames, alone, System.nanoTime()), batching, state::refusal);
          monitor.signal(); // the thread may sleep, since whenever
        });
  }

  /** Waits until every frame is durable. */
  long flush(Duration timeout) {
    refuseInCallback();
    return monitor.holding(
        () -> {
          state.flush();
          monitor.signal();
          if (!monitor.await(this::isDrained, timeout)) {
            throw Failure.deadline(
                "not every frame was durable within "
                    + Checks.seconds(timeout)
                    + "; the stream continues");
          }
          if (!state.idle()) {
            state.check();
          }
          return state.acknowledged();
        });
  }

  /**
   * Delivers the accepted frames within a time, and ends; does nothing if this client has ended the
   * stream.
   */
  void close(Duration timeout) {
    VidscoreException failure =
        monitor.holding(
            () -> {
              if (left && state.ended()) {
                return null;
              }
              left = true;
              state.close();
              monitor.signal();
              monitor.await(this::isDrained, timeout);
              if (state.undelivered() == 0) {
                return null;
              }
              state.end(
                  Failure.deadline(
                      Checks.counted(state.undelivered(), "frame")
                          + " dropped: not durable within "
                          + Checks.seconds(timeout)));
              return state.failure();
            });
    end(null);
    if (failure != null) {
      throw failure.again();
    }
  }

  /** Ends at once and drops the frames that are not durable. */
  void abort() {
    monitor.holding(() -> left = true);
    end(Failure.closed("the stream was aborted"));
  }

  int undelivered() {
    return monitor.holding(state::undelivered);
  }

  /** Throws in {@code onAcknowledged}, which would wait for itself. */
  void refuseInCallback() {
    if (Thread.currentThread() == teller) {
      throw Failure.callback(
          "flush, close and seal cannot be called in onAcknowledged:"
              + " they would wait for themselves",
          null);
    }
  }

  /**
   * Whether all frames are durable and onAcknowledged was called with them, or the stream has
   * failed.
   */
  private boolean isDrained() {
    return state.ended() || (state.idle() && isTold());
  }

  /** Whether onAcknowledged was called with all durable frames. */
  private boolean isTold() {
    return delivery.onAcknowledged() == null || told == state.acknowledged();
  }

  /** Records the end of delivery and its cause; the first cause counts. */
  void end(VidscoreException problem) {
    Exchange<?, ?> present =
        monitor.holding(
            () -> {
              state.end(problem);
              monitor.signal();
              return exchange;
            });
    if (present != null) {
      present.cancel();
    }
  }

  private void run() {
    try {
      while (awaitWork()) {
        try {
          deliver();
        } catch (VidscoreException failure) {
          pause(failure);
        }
      }
    } catch (VidscoreException failure) {
      end(failure);
    } catch (Throwable mistake) { // an Error, too: nobody else would end the stream
      end(Failure.internal("frames could not be sent: " + mistake));
    }
  }

  /** Waits until there is something to deliver; false if the stream has ended. */
  private boolean awaitWork() {
    return monitor.holding(
        () -> {
          monitor.await(() -> state.ended() || !state.idle(), null);
          return !state.ended();
        });
  }

  private void pause(VidscoreException failure) {
    monitor.holding(
        () -> {
          if (!state.ended()) {
            long delayNs = state.delayNs(failure, System.nanoTime());
            monitor.await(state::ended, Duration.ofNanos(delayNs));
          }
        });
    calls.resetBackoff();
  }

  /** Delivers until a break or the end of the stream. */
  private void deliver() {
    if (monitor.holding(state::broken)) {
      resume();
    }
    if (delivery.unary()) {
      deliverOneByOne();
    } else {
      deliverOverCall();
    }
  }

  /** Asks the server from which offset to continue. */
  private void resume() {
    Submission submission = calls.getSubmission(opened.submission().name());
    StreamInfo known = submission.stream(opened.stream().stream()).orElse(null);
    boolean grown =
        monitor.holding(
            () -> {
              boolean more = state.resume(known, System.nanoTime());
              monitor.signal();
              return more;
            });
    tell(grown);
  }

  private void deliverOneByOne() {
    for (AppendState.Sent batch = next(null); batch != null; batch = next(null)) {
      AppendRequest request = opened.append(batch);
      acknowledge(calls.submissions(stub -> stub.appendBatch(request)).getNextOffset());
    }
  }

  private void deliverOverCall() {
    Exchange<AppendRequest, AppendResponse> call =
        new Exchange<>(monitor, response -> acknowledge(response.getNextOffset()));
    try {
      calls.appendFrames(call);
      monitor.holding(() -> exchange = call); // gRPC allows no cancelling before the start
      for (AppendState.Sent batch = next(call); batch != null; batch = next(call)) {
        AppendRequest request = opened.append(batch);
        send(call, request);
      }
    } finally {
      call.cancel();
      monitor.holding(
          () -> {
            exchange = null;
            state.disconnect();
          });
    }
  }

  private static void send(
      Exchange<AppendRequest, AppendResponse> call, AppendRequest request) {
    try {
      call.send(request);
    } catch (IllegalStateException cancelled) {
      throw call.reasonFor(cancelled); // it was cancelled meanwhile
    }
  }

  /**
   * Waits for the next due batch, and for the call, if there is one, to accept it; null if the
   * stream has ended. Throws the error of the call, or that no acknowledgement comes.
   */
  private AppendState.Sent next(Exchange<AppendRequest, AppendResponse> call) {
    return monitor.holding(
        () -> {
          while (!state.ended()) {
            long stalledAtNs = state.stalledAtNs();
            if (call != null) {
              checkCall(call, stalledAtNs);
            }
            boolean ready = call == null || call.isReady();
            AppendState.Sent batch = ready ? state.take(System.nanoTime()) : null;
            if (batch != null) {
              monitor.signal();
              return batch;
            }
            monitor.awaitUntil(Monitor.earlier(ready ? state.dueNs() : Outbox.NEVER, stalledAtNs));
          }
          return null;
        });
  }

  private void checkCall(
      Exchange<AppendRequest, AppendResponse> call, long stalledAtNs) {
    if (call.over()) {
      throw call.failure() == null ? Retrying.endedEarly() : call.failure().again();
    }
    if (Monitor.isOver(stalledAtNs)) {
      throw Failure.unavailable(
          "the server has acknowledged nothing for "
              + Checks.seconds(delivery.acknowledgeTimeout()));
    }
  }

  private void acknowledge(long nextOffset) {
    boolean grown =
        monitor.holding(
            () -> {
              boolean more = state.acknowledge(nextOffset, System.nanoTime());
              monitor.signal();
              return more;
            });
    tell(grown);
  }

  /** Calls onAcknowledged if more frames are durable than before. */
  private void tell(boolean grown) {
    if (!grown || delivery.onAcknowledged() == null || monitor.holding(state::ended)) {
      return;
    }
    teller = Thread.currentThread();
    try {
      long acknowledged = acknowledged();
      delivery.onAcknowledged().accept(acknowledged);
      monitor.holding(
          () -> {
            told = acknowledged;
            monitor.signal();
          });
    } catch (Throwable thrown) { // not only exceptions: an assertion, or Kotlin's checked ones
      throw Failure.callback("onAcknowledged threw " + thrown, thrown);
    } finally {
      teller = null;
    }
  }
}

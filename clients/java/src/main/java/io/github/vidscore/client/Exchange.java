package io.github.vidscore.client;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.function.Consumer;

/**
 * A bidirectional streaming call: the state that its sending thread needs, and the responses, one
 * at a time.
 */
final class Exchange<RequestT, ResponseT> implements ClientResponseObserver<RequestT, ResponseT> {
  private final Monitor monitor;
  private final Consumer<ResponseT> onResponse;
  private volatile ClientCallStreamObserver<RequestT> call; // null until it is started
  private boolean over;
  private VidscoreException failure;

  /** A call whose responses go to a consumer; an exception there ends the call. */
  Exchange(Monitor monitor, Consumer<ResponseT> onResponse) {
    this.monitor = monitor;
    this.onResponse = onResponse;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<RequestT> started) {
    call = started;
    started.setOnReadyHandler(() -> monitor.holding(monitor::signal));
  }

  @Override
  public void onNext(ResponseT response) {
    if (monitor.holding(() -> over)) {
      return; // this side has released the call
    }
    try {
      onResponse.accept(response);
    } catch (VidscoreException problem) {
      end(problem);
      cancel();
    }
  }

  @Override
  public void onError(Throwable thrown) {
    end(Statuses.exceptionOf(thrown));
  }

  @Override
  public void onCompleted() {
    end(null);
  }

  /** Whether the call is over. The caller holds the lock. */
  boolean over() {
    return over;
  }

  /**
   * The error of the call; null if the server has ended it without one. The caller holds the lock.
   */
  VidscoreException failure() {
    return failure;
  }

  /** The cause of what was thrown while sending: the call's own failure, or a bug in this package. */
  VidscoreException reasonFor(Throwable thrown) {
    VidscoreException known = monitor.holding(() -> failure);
    return known != null ? known : Failure.internal("frames could not be sent: " + thrown);
  }

  /** Whether the transport accepts another message. */
  boolean isReady() {
    return call.isReady();
  }

  void send(RequestT request) {
    call.onNext(request);
  }

  /** Ends the input. */
  void closeSending() {
    call.onCompleted();
  }

  /** Releases the call; may be called again. */
  void cancel() {
    end(Failure.cancelled("the call was cancelled by this client"));
    if (call != null) {
      call.cancel("cancelled by this client", null);
    }
  }

  private void end(VidscoreException problem) {
    monitor.holding(
        () -> {
          if (!over) {
            over = true;
            failure = problem;
          }
          monitor.signal();
        });
  }
}

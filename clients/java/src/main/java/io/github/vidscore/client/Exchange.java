package io.github.vidscore.client;

import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.function.Consumer;

/**
 * A call that is streamed both ways: what its sending thread needs to know, and what the server
 * says, one message at a time.
 */
final class Exchange<RequestT, ResponseT> implements ClientResponseObserver<RequestT, ResponseT> {
  private final Monitor monitor;
  private final Consumer<ResponseT> onResponse;
  private volatile ClientCallStreamObserver<RequestT> call; // null until it is started
  private boolean over;
  private VidscoreException failure;

  /** A call whose responses go somewhere; an exception there ends it. */
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
      return; // this side has let go of the call
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

  /** Whether the call is over. The lock is held. */
  boolean over() {
    return over;
  }

  /** What it failed with; null where the server has ended it well. The lock is held. */
  VidscoreException failure() {
    return failure;
  }

  /** Why sending has thrown something: the call's own failure, or a mistake of this package's. */
  VidscoreException reasonFor(RuntimeException thrown) {
    VidscoreException known = monitor.holding(() -> failure);
    return known != null ? known : Failure.internal("frames could not be sent: " + thrown);
  }

  /** Whether the transport takes another message. */
  boolean isReady() {
    return call.isReady();
  }

  void send(RequestT request) {
    call.onNext(request);
  }

  /** Says that nothing more comes. */
  void closeSending() {
    call.onCompleted();
  }

  /** Lets go of the call; may be called again. */
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

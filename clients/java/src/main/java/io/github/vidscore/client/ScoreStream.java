package io.github.vidscore.client;

import io.github.vidscore.v1.ScoreRequest;
import io.github.vidscore.v1.ScoreResponse;
import io.github.vidscore.v1.ScoringServiceGrpc.ScoringServiceStub;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A stream that is being scored; made by {@link VidscoreClient#scoreStream}.
 *
 * <p>Every method may be called from any thread; frames of one thread are sent in its order.
 * Closing a stream that has not finished cancels it.
 */
public final class ScoreStream implements AutoCloseable {
  private final Monitor monitor = new Monitor();
  private final ScoreOptions options;
  private final StreamState state;
  private final Exchange<ScoreRequest, ScoreResponse> exchange;
  private final Consumer<ScoreStream> onClose;
  private volatile Thread teller; // the one that runs onReport

  ScoreStream(ScoreOptions options, ScoringServiceStub stub, Consumer<ScoreStream> onClose) {
    this.options = options;
    this.onClose = onClose;
    this.state = new StreamState(options);
    this.exchange = new Exchange<>(monitor, this::receive);
    ScoreRequest first =
        ScoreRequest.newBuilder().setConfiguration(Encoding.configuration(options)).build();
    ScoringServiceStub bounded =
        options.timeout() == null
            ? stub
            : stub.withDeadlineAfter(Monitor.saturatedNs(options.timeout()), TimeUnit.NANOSECONDS);
    bounded.score(exchange);
    exchange.send(first);
    Thread sender = new Thread(this::run, "vidscore-stream");
    sender.setDaemon(true);
    sender.start();
  }

  /**
   * Version of the server.
   *
   * @return the version
   */
  public String serverVersion() {
    return monitor.holding(() -> state.started().getServerVersion());
  }

  /**
   * Limits of this stream.
   *
   * @return the limits, by the names of the server's settings
   */
  public Map<String, Long> limits() {
    return monitor.holding(() -> state.started().getLimitsMap());
  }

  /**
   * The newest live report.
   *
   * @return the report; empty before the first one
   */
  public Optional<LiveReport> latest() {
    return monitor.holding(() -> Optional.ofNullable(state.latest()));
  }

  /**
   * Sends one whole frame of the truth; returns as soon as it is queued.
   *
   * @param frame the frame
   * @throws InputException if its columns have the wrong length
   * @throws BackPressureException if the queue is full, as the policy says
   * @throws VidscoreException the error with which the stream failed
   */
  public void sendTruth(Frame frame) {
    put(Side.TRUTH, List.of(Checks.given("frame", frame)), true);
  }

  /**
   * Sends one whole frame of detections; returns as soon as it is queued. The exceptions are those
   * of {@link #sendTruth}.
   *
   * @param frame the frame
   */
  public void send(Frame frame) {
    put(Side.DETECTIONS, List.of(Checks.given("frame", frame)), true);
  }

  /**
   * Sends many whole frames, which do not wait for others. The exceptions are those of {@link
   * #sendTruth}.
   *
   * @param side side of the frames
   * @param frames the frames
   */
  public void sendBatch(Side side, List<Frame> frames) {
    if (!frames.isEmpty()) {
      put(Checks.given("side", side), List.copyOf(frames), false);
    }
  }

  /**
   * Waits for the oldest live report that nobody has read; each goes to one reader.
   *
   * @return the report; empty if the stream has ended and there is none
   * @throws VidscoreException the error with which the stream failed, once all reports are read
   */
  public Optional<LiveReport> nextLiveReport() {
    return monitor.holding(
        () -> {
          monitor.await(state::readable, null);
          return Optional.ofNullable(state.nextReport());
        });
  }

  /**
   * Sends the queued frames, ends the input, and waits for the final reports.
   *
   * @return a report for each evaluator, in the requested order
   * @throws VidscoreException the error with which the stream failed
   */
  public List<Report> finish() {
    return finish(null);
  }

  /**
   * Sends the queued frames, ends the input, and waits for the final reports.
   *
   * @param timeout longest time to wait; null for only the stream's own limit
   * @return a report for each evaluator, in the requested order
   * @throws DeadlineException if they do not arrive in time; it may be called again
   * @throws CallbackException in {@code onReport}, which would wait for itself
   * @throws VidscoreException the error with which the stream failed
   */
  public List<Report> finish(Duration timeout) {
    if (Thread.currentThread() == teller) {
      throw Failure.callback("finish cannot be called in onReport: it would wait for itself", null);
    }
    return monitor.holding(
        () -> {
          state.close();
          monitor.signal();
          if (!monitor.await(state::ended, timeout)) {
            throw Failure.deadline(
                "no final report within " + Checks.seconds(timeout) + "; the stream continues");
          }
          return state.finalReports();
        });
  }

  /** Ends the stream at once, without a report; does nothing if it has ended. */
  @Override
  public void close() {
    end(Failure.cancelled("the stream was cancelled by this client"));
    exchange.cancel();
    onClose.accept(this);
  }

  void awaitStart(Duration timeout) {
    monitor.holding(
        () -> {
          monitor.await(() -> state.started() != null || state.ended(), timeout);
          if (state.started() == null) {
            state.check();
            throw Failure.deadline(
                "the server has not accepted the stream within " + Checks.seconds(timeout));
          }
        });
  }

  private void put(Side side, List<Frame> frames, boolean alone) {
    Geometry geometry = side == Side.TRUTH ? options.truthGeometry() : options.detectionGeometry();
    frames.forEach(frame -> frame.checked(geometry.arity()));
    monitor.holding(
        () -> {
          monitor.awaitRoom(
              () -> state.admit(side, frames, alone, System.nanoTime()),
              options.batching(),
              state::refusal);
          monitor.signal(); // the sender may sleep, since whenever
        });
  }

  private void receive(ScoreResponse response) {
    LiveReport live =
        monitor.holding(
            () -> {
              LiveReport report = state.receive(response);
              monitor.signal();
              return state.ended() ? null : report;
            });
    if (live != null && options.live() != null && options.live().onReport() != null) {
      teller = Thread.currentThread();
      try {
        options.live().onReport().accept(live);
      } catch (Throwable thrown) { // not only exceptions: an assertion, or Kotlin's checked ones
        throw Failure.callback("onReport threw " + thrown, thrown);
      } finally {
        teller = null;
      }
    }
  }

  /** The stream's own thread: sends until there is nothing to send, and ends. */
  private void run() {
    try {
      for (Outbox.Batch batch = next(); batch != null; batch = next()) {
        exchange.send(request(batch));
      }
      if (monitor.holding(() -> !state.ended() && !exchange.over())) {
        exchange.closeSending();
      }
      monitor.holding(() -> monitor.await(exchange::over, null));
      end(monitor.holding(exchange::failure));
    } catch (Throwable thrown) {
      end(exchange.reasonFor(thrown));
    } finally {
      exchange.cancel();
    }
  }

  /** Waits for the next due batch; null after the last one. */
  private Outbox.Batch next() {
    return monitor.holding(
        () -> {
          while (!state.nothingToSend() && !exchange.over()) {
            boolean ready = exchange.isReady();
            Outbox.Batch batch = ready ? state.take(System.nanoTime()) : null;
            if (batch != null) {
              monitor.signal();
              return batch;
            }
            monitor.awaitUntil(ready ? state.dueNs() : Outbox.NEVER);
          }
          return null;
        });
  }

  private ScoreRequest request(Outbox.Batch batch) {
    ScoreRequest.Builder request = ScoreRequest.newBuilder();
    return batch.side() == Side.TRUTH
        ? request.setTruth(Encoding.frames(batch.frames(), options.truthGeometry())).build()
        : request
            .setDetections(Encoding.frames(batch.frames(), options.detectionGeometry()))
            .build();
  }

  private void end(VidscoreException problem) {
    monitor.holding(
        () -> {
          state.end(problem);
          monitor.signal();
        });
  }
}

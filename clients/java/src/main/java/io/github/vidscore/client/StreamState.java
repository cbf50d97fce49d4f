package io.github.vidscore.client;

import io.github.vidscore.v1.ScoreResponse;
import io.github.vidscore.v1.ScoreStarted;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** The state of a scoring stream, without any I/O. */
final class StreamState {
  private final Outbox outbox;
  private final int keepReports;
  private final Deque<LiveReport> unread = new ArrayDeque<>();
  private ScoreStarted started;
  private LiveReport latest;
  private List<Report> finalReports;
  private boolean closing;
  private boolean ended;
  private VidscoreException failure;

  StreamState(ScoreOptions options) {
    Map<Side, Integer> arities =
        Map.of(
            Side.TRUTH, options.truthGeometry().arity(),
            Side.DETECTIONS, options.detectionGeometry().arity());
    outbox = new Outbox(options.batching(), arities);
    keepReports = options.live() == null ? 1 : options.live().keepReports();
  }

  /** The response with which the server accepted the stream; null before. */
  ScoreStarted started() {
    return started;
  }

  LiveReport latest() {
    return latest;
  }

  boolean ended() {
    return ended;
  }

  /** Whether this side of the stream may be closed. */
  boolean nothingToSend() {
    return ended || (closing && outbox.frames() == 0);
  }

  /** Whether {@link #nextReport} need not wait. */
  boolean readable() {
    return !unread.isEmpty() || ended;
  }

  long dueNs() {
    return outbox.dueNs();
  }

  /** Accepts frames if there is room; returns whether it did. */
  boolean admit(Side side, List<Frame> frames, boolean alone, long nowNs) {
    check();
    if (closing || ended) {
      throw Failure.closed("the stream is finished and takes no more frames");
    }
    return alone ? outbox.offer(side, frames.get(0), nowNs) : outbox.offerAll(side, frames);
  }

  /** The error for frames that were not accepted, after a wait; null for no wait. */
  VidscoreException refusal(Duration waited) {
    return Failure.backPressure(
        "the queue was full%s: %s to be sent, queueFrames is %d, queueBytes is %d"
            .formatted(
                waited == null ? "" : " for " + Checks.seconds(waited),
                Checks.counted(outbox.frames(), "frame"),
                outbox.batching().queueFrames(),
                outbox.batching().queueBytes()));
  }

  /** The next batch to send; null if none is due. */
  Outbox.Batch take(long nowNs) {
    return ended ? null : outbox.take(nowNs);
  }

  /** Accepts no more frames, and makes all frames due now. */
  void close() {
    closing = true;
    outbox.flush();
  }

  /** Records a response; returns it if it is a live report. */
  LiveReport receive(ScoreResponse response) {
    switch (response.getMessageCase()) {
      case STARTED -> {
        Versions.check(response.getStarted().getServerVersion(), VidscoreClient.VERSION);
        started = response.getStarted();
        outbox.keepTo(started.getLimitsMap());
      }
      case LIVE -> {
        latest = Decoding.live(response.getLive());
        unread.add(latest);
        if (unread.size() > keepReports) {
          unread.remove();
        }
        return latest;
      }
      case FINAL -> finalReports = Decoding.reports(response.getFinal().getReportsList());
      default -> throw Failure.internal("the server sent a message that this client does not know");
    }
    return null;
  }

  /** Records the end of the call, null for no error; the first cause counts. */
  void end(VidscoreException problem) {
    if (ended) {
      return;
    }
    ended = true;
    failure = problem;
    if (problem == null && finalReports == null) {
      failure = Failure.internal("the server ended the stream without a final report");
    }
  }

  /** Throws the error of the stream, if it failed. */
  void check() {
    if (failure != null) {
      throw failure.again();
    }
  }

  /** The oldest unread live report; null if the stream has ended and there is none. */
  LiveReport nextReport() {
    LiveReport report = unread.poll();
    if (report == null) {
      check();
    }
    return report;
  }

  /** The final reports of a stream that has ended. */
  List<Report> finalReports() {
    check();
    return finalReports;
  }
}

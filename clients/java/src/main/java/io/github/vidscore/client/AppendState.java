package io.github.vidscore.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The state of an append stream, without any I/O.
 *
 * <p>Frames go from the outbox into the window when they are sent, and stay there until the server
 * has acknowledged them. After a break the window is sent again from the server's next offset on,
 * under the epoch of the first opening: an older writer that returns never excludes a newer one.
 */
final class AppendState {
  /** A batch of frames, and the offset of its first frame in the stream. */
  record Sent(long offset, List<Frame> frames) {
    long end() {
      return offset + frames.size();
    }
  }

  private final StreamInfo opened;
  private final int arity;
  private final Delivery delivery;
  private final Outbox outbox;
  private final Retrying retrying;
  private final List<Sent> window = new ArrayList<>();
  private long acknowledged;
  private boolean broken;
  private boolean closing; // whether no more frames are accepted
  private boolean ended;
  private VidscoreException failure;
  private long toSkip; // frames that the caller sends again although they are durable
  private int windowFrames;
  private long windowBytes;
  private boolean tooLarge; // whether the server accepts smaller batches than those of the window
  private int sent; // how many batches of the window were sent over the present connection
  private long taken; // offset after the last frame that entered the window
  private long quietSinceNs;

  AppendState(StreamInfo opened, int arity, Batching batching, Delivery delivery, boolean replay) {
    this.opened = opened;
    this.arity = arity;
    this.delivery = delivery;
    this.outbox = new Outbox(batching, Map.of(Side.DETECTIONS, arity));
    this.retrying = new Retrying(delivery.retry());
    this.acknowledged = opened.nextOffset();
    this.taken = opened.nextOffset();
    this.toSkip = replay ? opened.nextOffset() : 0;
  }

  long acknowledged() {
    return acknowledged;
  }

  /** Whether to ask the server first what is durable. */
  boolean broken() {
    return broken;
  }

  boolean ended() {
    return ended;
  }

  Retrying retrying() {
    return retrying;
  }

  /** Whether there is nothing to deliver, so that no connection is needed. */
  boolean idle() {
    return window.isEmpty() && outbox.frames() == 0;
  }

  /** Number of accepted frames that are not known to be durable. */
  int undelivered() {
    return windowFrames + outbox.frames();
  }

  /** Accepts no more frames, and makes all frames due now. */
  void close() {
    closing = true;
    flush();
  }

  /** Time at which the connection counts as broken; never if no answer is due. */
  long stalledAtNs() {
    return sent == 0 ? Outbox.NEVER : quietSinceNs + Monitor.saturatedNs(delivery.acknowledgeTimeout());
  }

  /** Time at which {@link #take} has a batch; never if nothing waits or the window is full. */
  long dueNs() {
    if (sent < window.size()) {
      return Outbox.AT_ONCE;
    }
    return hasRoom() ? outbox.dueNs() : Outbox.NEVER;
  }

  /**
   * Accepts frames if there is room; returns whether it did, or they are durable already. A frame
   * that comes alone may wait for others.
   */
  boolean admit(List<Frame> frames, boolean alone, long nowNs) {
    check();
    if (frames.size() <= toSkip) {
      toSkip -= frames.size();
      return true;
    }
    List<Frame> rest = frames.subList((int) toSkip, frames.size());
    boolean admitted =
        alone
            ? outbox.offer(Side.DETECTIONS, rest.get(0), nowNs)
            : outbox.offerAll(Side.DETECTIONS, rest);
    toSkip = admitted ? 0 : toSkip;
    return admitted;
  }

  /** The error for frames that were not accepted, after a wait; null for no wait. */
  VidscoreException refusal(Duration waited) {
    return Failure.backPressure(
        "the queue was full%s: %s to be sent and %d to be acknowledged, "
                .formatted(
                    waited == null ? "" : " for " + Checks.seconds(waited),
                    Checks.counted(outbox.frames(), "frame"),
                    windowFrames)
            + "queueFrames is %d, windowFrames is %d"
                .formatted(outbox.batching().queueFrames(), delivery.windowFrames()));
  }

  /** The next batch to send; null if none is due or the window is full. */
  Sent take(long nowNs) {
    if (ended || (sent == window.size() && !fill(nowNs))) {
      return null;
    }
    if (sent == 0) {
      quietSinceNs = nowNs;
    }
    return window.get(sent++);
  }

  /**
   * Drops the frames before an offset, which are durable; returns whether any of them were not
   * known to be.
   */
  boolean acknowledge(long nextOffset, long nowNs) {
    if (nextOffset > taken) {
      throw Failure.internal(
          "the server acknowledged %s, but only %d had been sent"
              .formatted(Checks.counted(nextOffset, "frame"), taken));
    }
    quietSinceNs = nowNs;
    if (nextOffset <= acknowledged) {
      return false;
    }
    retrying.progress();
    acknowledged = nextOffset;
    while (!window.isEmpty() && window.get(0).end() <= nextOffset) {
      release();
    }
    if (!window.isEmpty() && window.get(0).offset() < nextOffset) {
      cut(nextOffset);
    }
    return true;
  }

  /**
   * Resumes over a new connection from the server's state of the stream, null if it has none;
   * returns whether more frames are durable than before.
   */
  boolean resume(StreamInfo known, long nowNs) {
    StreamInfo found = known == null ? new StreamInfo(opened.stream(), opened.epoch(), 0) : known;
    if (found.epoch() != opened.epoch()) {
      throw Failure.of(
              ("another writer has opened stream \"%s\" with epoch %d; "
                      + "this writer has epoch %d and must stop")
                  .formatted(found.stream(), found.epoch(), opened.epoch()))
          .withCode("ABORTED")
          .withReason("EPOCH_STALE")
          .exception(SupersededException.class);
    }
    if (found.nextOffset() < acknowledged) {
      throw Failure.of(
              "the server has %s of the stream but had acknowledged %d: it has lost frames"
                  .formatted(Checks.counted(found.nextOffset(), "frame"), acknowledged))
          .withReason("STREAM_SET_BACK")
          .exception(ConflictException.class);
    }
    boolean grown = acknowledge(found.nextOffset(), nowNs);
    sent = 0;
    broken = false;
    if (tooLarge) {
      putBack();
    }
    return grown;
  }

  /** Records that the connection is gone. */
  void disconnect() {
    sent = 0;
  }

  /**
   * Records a break; returns the nanoseconds to wait before the next try. Throws if a retry is
   * useless.
   */
  long delayNs(VidscoreException problem, long nowNs) {
    broken = true;
    sent = 0;
    if (idle() && Retrying.isBreak(problem)) {
      return 0; // without frames, there is nothing to retry
    }
    int largest = window.stream().mapToInt(batch -> batch.frames().size()).max().orElse(0);
    if (outbox.cutSmaller(problem, largest)) {
      tooLarge = true;
      return retrying.delayNsAgain(problem, nowNs);
    }
    return retrying.delayNs(problem, nowNs);
  }

  /** Makes all frames due now. */
  void flush() {
    outbox.flush();
  }

  /** Records the end of delivery and its cause; the first cause counts. */
  void end(VidscoreException problem) {
    if (!ended) {
      ended = true;
      failure = problem;
    }
  }

  /** The error with which the stream failed; null if it did not. */
  VidscoreException failure() {
    return failure;
  }

  /** Throws the error with which the stream failed, or that it has ended. */
  void check() {
    if (failure != null) {
      throw failure.again();
    }
    if (ended || closing) {
      throw Failure.closed("the stream is closed and takes no more frames");
    }
  }

  private boolean hasRoom() {
    return window.isEmpty()
        || (windowFrames < delivery.windowFrames() && windowBytes < delivery.windowBytes());
  }

  /** Moves the due batch, if any, into the window. */
  private boolean fill(long nowNs) {
    Outbox.Batch batch = hasRoom() ? outbox.take(nowNs) : null;
    if (batch == null) {
      return false;
    }
    enter(window.size(), new Sent(taken, batch.frames()));
    taken += batch.frames().size();
    return true;
  }

  private void enter(int place, Sent batch) {
    window.add(place, batch);
    windowFrames += batch.frames().size();
    windowBytes += Outbox.sizeOf(batch.frames(), arity);
  }

  private Sent release() {
    Sent oldest = window.remove(0);
    windowFrames -= oldest.frames().size();
    windowBytes -= Outbox.sizeOf(oldest.frames(), arity);
    sent = Math.max(0, sent - 1);
    return oldest;
  }

  /** Returns unacknowledged frames to the outbox, to be cut again. */
  private void putBack() {
    while (!window.isEmpty()) {
      Sent newest = window.remove(window.size() - 1);
      taken = newest.offset();
      outbox.putBack(Side.DETECTIONS, newest.frames());
    }
    windowFrames = 0;
    windowBytes = 0;
    tooLarge = false;
  }

  /** Cuts the oldest batch to its part from an offset on. */
  private void cut(long offset) {
    int known = sent;
    Sent oldest = release();
    int gone = (int) (offset - oldest.offset());
    enter(0, new Sent(offset, oldest.frames().subList(gone, oldest.frames().size())));
    sent = known;
  }
}

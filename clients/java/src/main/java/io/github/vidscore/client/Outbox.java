package io.github.vidscore.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A bounded queue that batches frames by size and time. It does no I/O and reads no clock: its
 * caller passes the time, in nanoseconds of any steady clock, and does the waiting, the locking and
 * the sending.
 */
final class Outbox {
  /** The time of something that is due at once. */
  static final long AT_ONCE = Long.MIN_VALUE;

  /** The time of something that is never due. */
  static final long NEVER = Long.MAX_VALUE;

  /** Maximum bytes that a frame adds to a message, without its objects. */
  private static final int FRAME_BYTES = 24;

  /**
   * Maximum bytes that an object adds besides its coordinates and further columns: confidence 8,
   * track id 10, label 5, flags 1.
   */
  private static final int OBJECT_BYTES = 24;

  /** Maximum bytes that a mask adds without its runs, and that a run adds. */
  private static final int MASK_BYTES = 15;

  private static final int RUN_BYTES = 5;

  /** Limits that fewer frames in a message may keep, although nobody knows how many. */
  private static final Set<String> MESSAGE_LIMITS =
      Set.of(
          "maximum_batch_labels",
          "maximum_batch_objects",
          "maximum_batch_sequences",
          "maximum_message_bytes",
          "maximum_unstored_bytes",
          "maximum_unstored_call_bytes",
          "maximum_unstored_team_bytes");

  /** Frames of one side for one message. */
  record Batch(Side side, List<Frame> frames) {}

  private static final class Gathering {
    final List<Frame> frames = new ArrayList<>();
    long bytes;
    long sinceNs;
  }

  private static final class Ready {
    final Side side;
    final List<Frame> frames;
    int taken;

    Ready(Side side, List<Frame> frames) {
      this.side = side;
      this.frames = frames;
    }
  }

  private final Map<Side, Integer> arities;
  private final Map<Side, Gathering> gathering = new EnumMap<>(Side.class);
  private final Deque<Ready> ready = new ArrayDeque<>();
  private Batching batching;
  private int frames;
  private long bytes;

  Outbox(Batching batching, Map<Side, Integer> arities) {
    this.batching = batching;
    this.arities = arities;
    for (Side side : Side.values()) {
      gathering.put(side, new Gathering());
    }
  }

  static long sizeOf(Frame frame, int arity) {
    long object = OBJECT_BYTES + 8L * (arity + frame.columns.size());
    long masks = frame.masks == null ? 0 : frame.masks.stream().mapToLong(Outbox::sizeOf).sum();
    return FRAME_BYTES + object * frame.objects(arity) + masks;
  }

  private static long sizeOf(Mask mask) {
    return MASK_BYTES + (long) RUN_BYTES * mask.runs.length;
  }

  static long sizeOf(List<Frame> frames, int arity) {
    return frames.stream().mapToLong(frame -> sizeOf(frame, arity)).sum();
  }

  int frames() {
    return frames;
  }

  long bytes() {
    return bytes;
  }

  Batching batching() {
    return batching;
  }

  /** Time at which {@link #take} has a batch. */
  long dueNs() {
    if (!ready.isEmpty()) {
      return AT_ONCE;
    }
    long due = NEVER;
    for (Gathering waiting : gathering.values()) {
      if (!waiting.frames.isEmpty()) {
        long own = waiting.sinceNs + Monitor.saturatedNs(batching.batchInterval());
        due = due == NEVER || own - due < 0 ? own : due;
      }
    }
    return due;
  }

  /** Makes no larger batches than a server accepts. */
  void keepTo(Map<String, Long> limits) {
    batching = batching.keepingTo(limits);
  }

  /**
   * Makes smaller batches than one that a server refused, which has at most so many frames; returns
   * whether earlier ones were larger.
   */
  boolean cutSmaller(VidscoreException problem, int frames) {
    String name = problem.metadata().getOrDefault("limit", "");
    String maximum = problem.metadata().getOrDefault("maximum", "");
    if (!maximum.matches("[0-9]{1,18}")) {
      return false;
    }
    Batching before = batching;
    keepTo(Map.of(name, Long.valueOf(maximum)));
    if (batching.equals(before) && frames > 1 && MESSAGE_LIMITS.contains(name)) {
      batching = batching.withBatchFrames(frames / 2);
    }
    return !batching.equals(before);
  }

  /** Accepts one frame, which waits for others, if there is room; returns whether it did. */
  boolean offer(Side side, Frame frame, long nowNs) {
    long size = sizeOf(frame, arities.get(side));
    if (!enter(1, size)) {
      return false;
    }
    gather(side, frame, size, nowNs);
    return true;
  }

  /**
   * Accepts frames that do not wait for others, if there is room for all; returns whether it did.
   */
  boolean offerAll(Side side, List<Frame> items) {
    if (!enter(items.size(), sizeOf(items, arities.get(side)))) {
      return false;
    }
    seal(side);
    ready.add(new Ready(side, items));
    return true;
  }

  /** Makes all frames due now. */
  void flush() {
    gathering.keySet().forEach(this::seal);
  }

  /** The next due batch, at most as large as a message; null if none is due. */
  Batch take(long nowNs) {
    long interval = Monitor.saturatedNs(batching.batchInterval());
    gathering.forEach(
        (side, waiting) -> {
          if (!waiting.frames.isEmpty() && nowNs - waiting.sinceNs >= interval) {
            seal(side);
          }
        });
    Ready head = ready.peek();
    if (head == null) {
      return null;
    }
    int end = head.taken + fitting(head);
    List<Frame> taken = List.copyOf(head.frames.subList(head.taken, end));
    head.taken = end;
    if (end == head.frames.size()) {
      ready.remove();
    }
    frames -= taken.size();
    bytes -= sizeOf(taken, arities.get(head.side));
    return new Batch(head.side, taken);
  }

  /** Returns the frames that were taken last, to be cut again. */
  void putBack(Side side, List<Frame> items) {
    ready.addFirst(new Ready(side, items));
    frames += items.size();
    bytes += sizeOf(items, arities.get(side));
  }

  private boolean enter(int count, long size) {
    boolean full = frames + count > batching.queueFrames() || bytes + size > batching.queueBytes();
    if (frames > 0 && full) {
      return false;
    }
    frames += count;
    bytes += size;
    return true;
  }

  private void gather(Side side, Frame frame, long size, long nowNs) {
    Gathering waiting = gathering.get(side);
    if (!waiting.frames.isEmpty() && waiting.bytes + size > batching.batchBytes()) {
      seal(side);
    }
    if (waiting.frames.isEmpty()) {
      waiting.sinceNs = nowNs;
    }
    waiting.frames.add(frame);
    waiting.bytes += size;
    if (waiting.frames.size() >= batching.batchFrames()) {
      seal(side);
    }
  }

  private void seal(Side side) {
    Gathering waiting = gathering.get(side);
    if (!waiting.frames.isEmpty()) {
      ready.add(new Ready(side, List.copyOf(waiting.frames)));
      waiting.frames.clear();
      waiting.bytes = 0;
    }
  }

  /**
   * Number of leading frames that fit into a message; at least one. Those after it must have the
   * further columns of the first one with objects.
   */
  private int fitting(Ready head) {
    int arity = arities.get(head.side);
    Frame pattern = head.frames.get(head.taken);
    long size = 0;
    for (int index = head.taken; index < head.frames.size(); index++) {
      Frame frame = head.frames.get(index);
      int count = index - head.taken;
      size += sizeOf(frame, arity);
      pattern = pattern.coordinates.length == 0 ? frame : pattern;
      boolean fits =
          count < batching.batchFrames() && size <= batching.batchBytes() && frame.joins(pattern);
      if (count > 0 && !fits) {
        return count;
      }
    }
    return head.frames.size() - head.taken;
  }
}

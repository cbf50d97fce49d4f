package io.github.vidscore.client;

import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.boxes;
import static io.github.vidscore.client.Support.numbersOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** When frames become batches, and how much may wait; with the clock of the test. */
class OutboxTest {
  /** The counted bytes of a frame with one box: 24 for the frame, 24 for the object, 4 numbers. */
  private static final int BOX_BYTES = 24 + 24 + 4 * 8;

  private static final Batching EVERY_SECOND =
      Batching.DEFAULT.withBatchInterval(Duration.ofSeconds(1));

  private static Outbox outbox(Batching batching) {
    return new Outbox(batching, Map.of(Side.TRUTH, 4, Side.DETECTIONS, 4));
  }

  private static long at(double seconds) {
    return (long) (seconds * 1e9);
  }

  /** Everything that is due. */
  private static List<String> drain(Outbox box, double seconds) {
    List<String> taken = new ArrayList<>();
    for (Outbox.Batch batch = box.take(at(seconds)); batch != null; batch = box.take(at(seconds))) {
      taken.add(batch.side().name().charAt(0) + "" + numbersOf(batch.frames()));
    }
    return taken;
  }

  @Test
  void aFrameIsDueWhenItsIntervalIsOverAndNotBefore() {
    Outbox box = outbox(EVERY_SECOND);
    assertTrue(box.offer(Side.TRUTH, box(0), at(10)));
    assertEquals(at(11), box.dueNs());
    assertEquals(List.of(), drain(box, 10.999));
    assertEquals(List.of("T[0]"), drain(box, 11));
    assertEquals(Outbox.NEVER, box.dueNs());
  }

  @Test
  void theFirstFrameOfEachSideDecides() {
    Outbox box = outbox(EVERY_SECOND);
    box.offer(Side.TRUTH, box(0), at(10));
    box.offer(Side.DETECTIONS, box(5), at(10.5));
    box.offer(Side.TRUTH, box(1), at(10.9));
    assertEquals(List.of("T[0, 1]"), drain(box, 11));
    assertEquals(at(11.5), box.dueNs());
    assertEquals(List.of("D[5]"), drain(box, 11.5));
  }

  @Test
  void aBatchOfTheGreatestNumberOfFramesIsDueAtOnce() {
    Outbox box = outbox(EVERY_SECOND.withBatchFrames(3));
    boxes(0, 7).forEach(frame -> box.offer(Side.TRUTH, frame, at(10)));
    assertEquals(Outbox.AT_ONCE, box.dueNs());
    assertEquals(List.of("T[0, 1, 2]", "T[3, 4, 5]"), drain(box, 10));
    assertEquals(List.of("T[6]"), drain(box, 11));
  }

  @Test
  void batchesAreBoundedByBytesAndALargerFrameGoesAlone() {
    Outbox box = outbox(EVERY_SECOND.withBatchBytes(2 * BOX_BYTES));
    boxes(0, 3).forEach(frame -> box.offer(Side.TRUTH, frame, at(10)));
    box.offer(Side.TRUTH, Frame.of("a", 3).coordinates(new double[200]).build(), at(10));
    box.offer(Side.TRUTH, box(4), at(10));
    assertEquals(List.of("T[0, 1]", "T[2]", "T[3]", "T[4]"), drain(box, 11));
  }

  @Test
  void wholeBatchesKeepTheirPlaceAndAreCut() {
    Outbox box = outbox(EVERY_SECOND.withBatchFrames(4).withBatchBytes(3 * BOX_BYTES));
    box.offer(Side.TRUTH, box(100), at(10));
    box.offerAll(Side.TRUTH, boxes(0, 7));
    assertEquals(List.of("T[100]", "T[0, 1, 2]", "T[3, 4, 5]", "T[6]"), drain(box, 10));
  }

  @Test
  void aServerCanMakeBatchesSmallerButNotLarger() {
    Outbox box = outbox(EVERY_SECOND.withBatchFrames(4));
    box.keepTo(Map.of("maximum_batch_frames", 100L, "maximum_message_bytes", 4L * BOX_BYTES));
    box.offerAll(Side.TRUTH, boxes(0, 3));
    assertEquals(List.of("T[0, 1]", "T[2]"), drain(box, 10));
    box.keepTo(Map.of("maximum_batch_frames", 1L, "maximum_message_bytes", 2000L * BOX_BYTES));
    box.offerAll(Side.TRUTH, boxes(0, 2));
    assertEquals(List.of("T[0]", "T[1]"), drain(box, 10));
  }

  @Test
  void framesOfOtherColumnsGoApartAndEmptyOnesAnywhere() {
    Outbox box = outbox(EVERY_SECOND);
    Frame sized = Frame.of("a", 1).coordinates(1, 2, 3, 4).column("area", 4).build();
    Frame empty = Frame.of("a", 2).build();
    for (Frame frame : List.of(box(0), empty, sized, sized, empty, box(0))) {
      box.offer(Side.DETECTIONS, frame, at(10));
    }
    assertEquals(List.of("D[0, 2]", "D[1, 1, 2]", "D[0]"), drain(box, 11));
  }

  @Test
  void aFullQueueTakesNothingInAndAnEmptyOneWhatIsLargerThanItself() {
    for (Batching bounded :
        List.of(EVERY_SECOND.withQueueFrames(3), EVERY_SECOND.withQueueBytes(3 * BOX_BYTES))) {
      Outbox box = outbox(bounded.withBatchFrames(2));
      assertTrue(box.offerAll(Side.TRUTH, boxes(0, 10)));
      assertFalse(box.offer(Side.DETECTIONS, box(0), at(10)));
      assertEquals(5, drain(box, 10).size());
      boxes(0, 3).forEach(frame -> assertTrue(box.offer(Side.TRUTH, frame, at(10))));
      assertFalse(box.offer(Side.DETECTIONS, box(0), at(10)));
      assertEquals(2, box.take(at(10)).frames().size());
      assertTrue(box.offer(Side.DETECTIONS, box(0), at(10)));
    }
  }

  @Test
  void everyFrameComesOutOnceInOrderAndTheQueueIsEmptyAgain() {
    for (int seed = 0; seed < 200; seed++) {
      Random random = new Random(seed);
      Outbox box =
          outbox(
              EVERY_SECOND
                  .withBatchFrames(1 + random.nextInt(6))
                  .withBatchBytes(1 + random.nextInt(500)));
      List<Integer> taken = new ArrayList<>();
      int offered = 0;
      for (int step = 0; step < 30; step++) {
        int count = random.nextBoolean() ? 1 : 1 + random.nextInt(5);
        List<Frame> frames = boxes(offered, offered + count);
        assertTrue(
            count == 1 && random.nextBoolean()
                ? box.offer(Side.TRUTH, frames.get(0), at(step / 3.0))
                : box.offerAll(Side.TRUTH, frames));
        offered += count;
        take(box, at(step / 3.0), taken);
      }
      box.flush();
      take(box, 0, taken);
      assertEquals(Support.numbers(offered), taken, "seed " + seed);
      assertEquals(0, box.frames() + box.bytes());
    }
  }

  private static void take(Outbox box, long nowNs, List<Integer> taken) {
    for (Outbox.Batch batch = box.take(nowNs); batch != null; batch = box.take(nowNs)) {
      taken.addAll(numbersOf(batch.frames()));
    }
  }

  @Test
  void theBytesThatAreCountedAreNoFewerThanThoseThatAreSent() {
    int objects = 200;
    double[] numbers = new double[8 * objects];
    java.util.Arrays.fill(numbers, 0.1);
    String[] labels = new String[objects];
    java.util.Arrays.fill(labels, "x");
    double[] confidences = new double[objects];
    java.util.Arrays.fill(confidences, 0.3);
    long[] tracks = new long[objects];
    java.util.Arrays.fill(tracks, -1);
    tracks[objects - 1] = 1L << 62;
    int[] flags = new int[objects];
    java.util.Arrays.fill(flags, ObjectFlag.DISTRACTOR);
    Frame largest =
        Frame.of("a", 1L << 62)
            .dontCare()
            .coordinates(numbers)
            .labels(labels)
            .confidences(confidences)
            .trackIds(tracks)
            .flags(flags)
            .build();
    List<Frame> frames = List.of(largest, largest, largest);
    int sent = Encoding.frames(frames, Geometry.QUADRILATERAL).getSerializedSize();
    assertTrue(sent <= Outbox.sizeOf(frames, 8), sent + " bytes");
  }
}

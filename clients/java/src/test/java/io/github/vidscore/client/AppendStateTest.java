package io.github.vidscore.client;

import static io.github.vidscore.client.Support.box;
import static io.github.vidscore.client.Support.boxes;
import static io.github.vidscore.client.Support.numbersOf;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * The state of an append stream, against a model server that breaks, loses answers and continues.
 */
class AppendStateTest {
  private static final VidscoreException BROKEN = Failure.unavailable("broken");

  private static AppendState state(long nextOffset, boolean replay, Delivery delivery) {
    Batching batching = Batching.DEFAULT.withBatchFrames(3).withQueueFrames(1_000_000);
    StreamInfo opened = new StreamInfo("default", 1, nextOffset);
    return new AppendState(opened, 4, batching, delivery, replay);
  }

  private static AppendState state(long nextOffset) {
    return state(nextOffset, false, Delivery.DEFAULT);
  }

  private static long at(long seconds) {
    return seconds * 1_000_000_000L;
  }

  /** A server that stores whole batches by the offset protocol. */
  private static final class Model {
    final List<Integer> stored = new ArrayList<>();

    /** Stores a batch unless it is stored already; returns whether it is stored. */
    boolean take(AppendState.Sent batch) {
      List<Integer> numbers = numbersOf(batch.frames());
      if (batch.offset() == stored.size()) {
        stored.addAll(numbers);
      }
      return batch.end() <= stored.size()
          && stored.subList((int) batch.offset(), (int) batch.end()).equals(numbers);
    }

    StreamInfo known() {
      return new StreamInfo("default", 1, stored.size());
    }
  }

  /** Batches arrive or not, answers arrive or not; in the end everything is delivered. */
  @Test
  void whateverBreaksEveryFrameIsStoredOnceAndInOrder() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      AppendState state =
          state(0, false, Delivery.DEFAULT.withWindowFrames(1 + random.nextInt(20)));
      Model server = new Model();
      int offered = 0;
      for (int step = 0; step < 60; step++) {
        switch (random.nextInt(5)) {
          case 0 -> {
            int count = 1 + random.nextInt(7);
            assertTrue(state.admit(boxes(offered, offered + count), false, 0));
            offered += count;
          }
          case 1 -> send(state, server);
          case 2 -> {
            if (state.take(0) != null) { // later batches would be refused until a break
              breakAndResume(state, server);
            }
          }
          case 3 -> state.acknowledge(server.stored.size(), 0);
          default -> breakAndResume(state, server);
        }
      }
      breakAndResume(state, server);
      while (send(state, server) || !state.idle()) {
        state.acknowledge(server.stored.size(), 0);
      }
      assertEquals(Support.numbers(offered), server.stored, "seed " + seed);
      assertEquals(offered, state.acknowledged());
    }
  }

  private static boolean send(AppendState state, Model server) {
    AppendState.Sent batch = state.take(0);
    assertTrue(batch == null || server.take(batch));
    return batch != null;
  }

  private static void breakAndResume(AppendState state, Model server) {
    state.delayNs(BROKEN, 0);
    state.resume(server.known(), 0);
  }

  private static VidscoreException tooLarge(String limit, String maximum) {
    return Failure.of("too large")
        .withCode("RESOURCE_EXHAUSTED")
        .withReason("LIMIT_EXCEEDED")
        .withMetadata(Map.of("limit", limit, "maximum", maximum))
        .exception(LimitExceededException.class);
  }

  /**
   * Of 7 frames in batches of 3 the server has the first 3, and accepts 2 at a time from now on.
   */
  @Test
  void batchesAreCutAnewWhereAServerTakesSmallerOnesThanItSaid() {
    AppendState state = state(0);
    state.admit(boxes(0, 7), false, 0);
    List<AppendState.Sent> taken = new ArrayList<>();
    for (AppendState.Sent next = state.take(0); next != null; next = state.take(0)) {
      taken.add(next);
    }
    assertEquals(3, taken.size());
    assertEquals(0, state.delayNs(tooLarge("maximum_batch_frames", "2"), 0));
    state.resume(new StreamInfo("default", 1, 3), 0);
    assertEquals(4, state.undelivered());
    for (List<Integer> expected : List.of(List.of(3, 4), List.of(5), List.of(6))) {
      AppendState.Sent batch = state.take(0);
      assertEquals(expected, numbersOf(batch.frames()));
      assertEquals(expected.get(0).longValue(), batch.offset());
    }
    assertNull(state.take(0));
    assertEquals(4, state.undelivered());
  }

  @Test
  void aBatchThatCannotBeCutSmallerEndsTheStream() {
    AppendState state = state(0);
    state.admit(boxes(0, 3), false, 0);
    state.delayNs(tooLarge("maximum_batch_frames", "2"), 0);
    state.delayNs(tooLarge("maximum_batch_frames", "1"), 0);
    assertThrows(
        LimitExceededException.class,
        () -> state.delayNs(tooLarge("maximum_batch_frames", "1"), 0));
  }

  @Test
  void aBatchOverAnotherLimitIsHalvedUnlessNoCutHelps() {
    AppendState state = state(0);
    state.admit(boxes(0, 5), false, 0);
    assertNotNull(state.take(0));
    assertNotNull(state.take(0));
    VidscoreException refusal = tooLarge("maximum_batch_objects", "4");
    VidscoreException ofAFrame = tooLarge("maximum_frame_objects", "4");
    assertThrows(LimitExceededException.class, () -> state.delayNs(ofAFrame, 0));
    assertEquals(0, state.delayNs(refusal, 0));
    state.resume(new StreamInfo("default", 1, 0), 0);
    for (int number = 0; number < 5; number++) {
      assertEquals(List.of(number), numbersOf(state.take(0).frames()));
    }
    assertThrows(LimitExceededException.class, () -> state.delayNs(refusal, 0));
  }

  @Test
  void aBatchOfWhichAPartIsDurableIsSentFromThereOn() {
    AppendState state = state(0);
    state.admit(boxes(0, 3), false, 0);
    assertNotNull(state.take(0));
    state.delayNs(BROKEN, 0);
    state.resume(new StreamInfo("default", 1, 2), 0);
    AppendState.Sent rest = state.take(0);
    assertEquals(2, rest.offset());
    assertEquals(List.of(2), numbersOf(rest.frames()));
  }

  @Test
  void aReplayLeavesOutWhatWasDurableSinglyOrWithinABatch() {
    AppendState state = state(4, true, Delivery.DEFAULT);
    assertTrue(state.admit(List.of(box(0)), true, 0));
    assertTrue(state.admit(boxes(1, 6), false, 0));
    AppendState.Sent sent = state.take(0);
    assertEquals(4, sent.offset());
    assertEquals(List.of(4, 5), numbersOf(sent.frames()));
  }

  @Test
  void framesThatWereNeverSentCannotBeDurableAndOldAcknowledgementsSayNothingNew() {
    AppendState state = state(5);
    InternalException failure =
        assertThrows(InternalException.class, () -> state.acknowledge(6, 0));
    assertEquals("the server acknowledged 6 frames, but only 5 had been sent", failure.message());
    failure = assertThrows(InternalException.class, () -> state(0).acknowledge(1, 0));
    assertEquals("the server acknowledged 1 frame, but only 0 had been sent", failure.message());
    assertFalse(state.acknowledge(3, 0));
    assertEquals(5, state.acknowledged());
  }

  @Test
  void aStreamThatIsNotAsItWasCannotBeResumed() {
    assertThrows(
        SupersededException.class, () -> state(5).resume(new StreamInfo("default", 2, 5), 0));
    for (StreamInfo known : Arrays.asList(new StreamInfo("default", 1, 4), null)) {
      ConflictException refused =
          assertThrows(ConflictException.class, () -> state(5).resume(known, 0));
      assertEquals("STREAM_SET_BACK", refused.reason());
    }
  }

  /** 30 s after the last answer or, before the first, after sending; never with all answered. */
  @Test
  void aConnectionStallsWhenWhatWasSentIsNotAnsweredInTime() {
    AppendState state = state(0);
    state.admit(boxes(0, 6), false, 0);
    assertEquals(Outbox.NEVER, state.stalledAtNs());
    state.take(at(10));
    assertEquals(at(40), state.stalledAtNs());
    state.take(at(20));
    assertEquals(at(40), state.stalledAtNs());
    state.acknowledge(3, at(25));
    assertEquals(at(55), state.stalledAtNs());
    state.acknowledge(6, at(26));
    assertEquals(Outbox.NEVER, state.stalledAtNs());
  }

  @Test
  void aFullWindowTakesNoFurtherBatch() {
    AppendState state = state(0, false, Delivery.DEFAULT.withWindowFrames(4));
    state.admit(boxes(0, 9), false, 0);
    assertNotNull(state.take(0));
    assertNotNull(state.take(0));
    assertNull(state.take(0));
    assertEquals(Outbox.NEVER, state.dueNs());
    state.acknowledge(3, 0);
    assertNotNull(state.take(0));
  }

  @Test
  void aBreakWhileNothingWaitsIsNotCounted() {
    AppendState state = state(0);
    for (long seconds : new long[] {0, 1_000_000, 2_000_000}) {
      assertEquals(0, state.delayNs(Retrying.endedEarly(), at(seconds)));
    }
    VidscoreException lasting =
        Failure.of("no").withCode("ALREADY_EXISTS").exception(ConflictException.class);
    assertThrows(ConflictException.class, () -> state.delayNs(lasting, 0));
  }

  /** At once, then 1, 2, 4, 4, ... s, half of which is random. */
  @Test
  void waitsDoubleUpToTheLongest() {
    Retry retry = new Retry(Duration.ofSeconds(1), Duration.ofSeconds(4), null);
    Retrying longest = new Retrying(retry, () -> 1.0);
    Retrying shortest = new Retrying(retry, () -> 0.0);
    for (long seconds : new long[] {0, 1, 2, 4, 4, 4}) {
      assertEquals(at(seconds), longest.delayNs(BROKEN, 0));
      assertEquals(at(seconds) / 2, shortest.delayNs(BROKEN, 0));
    }
  }

  @Test
  void retriesEndWhereThereIsNoProgressForSoLongAndMayHaveNoEnd() {
    Retrying tries = new Retrying(Retry.DEFAULT.withGiveUpAfter(Duration.ofSeconds(100)));
    tries.delayNs(BROKEN, at(1000));
    tries.delayNs(BROKEN, at(1099));
    tries.progress();
    tries.delayNs(BROKEN, at(1100));
    tries.delayNs(BROKEN, at(1199));
    assertThrows(UnavailableException.class, () -> tries.delayNs(BROKEN, at(1200)));
    Retrying endless = new Retrying(Retry.DEFAULT.withGiveUpAfter(null));
    for (int step = 0; step < 2000; step++) {
      assertTrue(endless.delayNs(BROKEN, at(step * 1000L)) <= at(10));
    }
  }

  @Test
  void whatAnotherTryMayMendIsABreak() {
    Failure failure = Failure.of("example");
    Failure internal = failure.withCode("INTERNAL");
    Failure full = failure.withCode("RESOURCE_EXHAUSTED");
    assertTrue(isBreak(full.withReason("STORE_FULL"), LimitExceededException.class));
    assertFalse(isBreak(full.withReason("LIMIT_EXCEEDED"), LimitExceededException.class));
    assertTrue(isBreak(internal, InternalException.class));
    assertFalse(isBreak(internal.withMetadata(Map.of("incident", "1")), InternalException.class));
    assertFalse(isBreak(failure, InternalException.class));
  }

  private static boolean isBreak(Failure failure, Class<?> kind) {
    return Retrying.isBreak(failure.exception(kind));
  }

  @Test
  void settingsWithWhichNothingWouldBeSentAreRefused() {
    Duration negative = Duration.ofMillis(-1);
    List<org.junit.jupiter.api.function.Executable> wrong =
        List.of(
            () -> Batching.DEFAULT.withBatchFrames(0),
            () -> Batching.DEFAULT.withBatchBytes(0),
            () -> Batching.DEFAULT.withQueueFrames(0),
            () -> Batching.DEFAULT.withQueueBytes(0),
            () -> Batching.DEFAULT.withBatchInterval(negative),
            () -> Batching.DEFAULT.withPolicy(null),
            () -> Batching.DEFAULT.withBlockTimeout(negative),
            () -> Delivery.DEFAULT.withWindowFrames(0),
            () -> Delivery.DEFAULT.withWindowBytes(0),
            () -> Delivery.DEFAULT.withAcknowledgeTimeout(Duration.ZERO),
            () -> Retry.DEFAULT.withInitial(Duration.ZERO),
            () -> Retry.DEFAULT.withMaximum(Duration.ofMillis(1)),
            () -> Retry.DEFAULT.withGiveUpAfter(negative),
            () -> Live.everyFrames(0),
            () -> Live.everyFrames(1).withKeepReports(0),
            () -> Live.every(negative));
    wrong.forEach(settings -> assertThrows(InputException.class, settings));
  }

  @Test
  void noWaitIsShorterThanTheServerWantsAndNoneOutlastsTheDeadline() {
    Retry retry =
        new Retry(Duration.ofSeconds(1), Duration.ofSeconds(8), Duration.ofMinutes(1));
    Retrying tries = new Retrying(retry, () -> 1);
    for (int seconds : new int[] {3, 3, 3, 4, 8}) {
      assertEquals(seconds * 1_000_000_000L, tries.delayNs(busy(3), 0));
    }
    assertThrows(LimitExceededException.class, () -> tries.delayNs(busy(61), 0));
  }

  private static VidscoreException busy(int seconds) {
    return Failure.of("busy")
        .withCode("RESOURCE_EXHAUSTED")
        .withRetryDelay(Duration.ofSeconds(seconds))
        .exception(LimitExceededException.class);
  }
}

package io.github.vidscore.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

/** A lock with which threads wait for changes of what it guards. */
final class Monitor {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  <T> T holding(Supplier<T> work) {
    lock.lock();
    try {
      return work.get();
    } finally {
      lock.unlock();
    }
  }

  void holding(Runnable work) {
    lock.lock();
    try {
      work.run();
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all that wait. The caller holds the lock. */
  void signal() {
    changed.signalAll();
  }

  /** Waits until something has changed, at most until a time. The caller holds the lock. */
  void awaitUntil(long timeNs) {
    try {
      if (timeNs == Outbox.NEVER) {
        changed.await();
      } else if (timeNs != Outbox.AT_ONCE) {
        changed.awaitNanos(timeNs - System.nanoTime());
      }
    } catch (InterruptedException interruption) {
      Thread.currentThread().interrupt();
      throw Failure.cancelled("the waiting thread was interrupted");
    }
  }

  /** Waits for a condition, at most for a time, null for no limit; returns whether it holds. */
  boolean await(BooleanSupplier condition, Duration timeout) {
    long limitNs = limitNs(timeout);
    while (!condition.getAsBoolean()) {
      if (isOver(limitNs)) {
        return false;
      }
      awaitUntil(limitNs);
    }
    return true;
  }

  /** Waits as the policy says until frames are accepted; otherwise throws the refusal. */
  void awaitRoom(
      BooleanSupplier admit, Batching batching, Function<Duration, VidscoreException> refusal) {
    if (admit.getAsBoolean()) {
      return;
    }
    if (batching.policy() == Policy.RAISE) {
      throw refusal.apply(null);
    }
    if (!await(admit, batching.blockTimeout())) {
      throw refusal.apply(batching.blockTimeout());
    }
  }

  static long limitNs(Duration timeout) {
    return timeout == null ? Outbox.NEVER : System.nanoTime() + saturatedNs(timeout);
  }

  static boolean isOver(long timeNs) {
    return timeNs != Outbox.NEVER && System.nanoTime() - timeNs >= 0;
  }

  /** The earlier of two times. */
  static long earlier(long oneNs, long otherNs) {
    if (oneNs == Outbox.AT_ONCE || otherNs == Outbox.NEVER) {
      return oneNs;
    }
    if (otherNs == Outbox.AT_ONCE || oneNs == Outbox.NEVER) {
      return otherNs;
    }
    return oneNs - otherNs < 0 ? oneNs : otherNs;
  }

  /** Half of what a long can hold, so that differences of times do not overflow. */
  static long saturatedNs(Duration duration) {
    return Math.min(TimeUnit.NANOSECONDS.convert(duration), Long.MAX_VALUE / 2);
  }
}

/** An event that wakes waiting coroutines. */

/** Node.js fires longer timers at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Wakes all coroutines that wait for it. */
export class WakeUpEvent {
  #waiting = new Set<() => void>();

  /** Wake all waiting coroutines. */
  signal(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) {
      wake();
    }
  }

  /** Sleep until the event is signalled, or for a number of milliseconds. */
  wait(limitMs: number | null = null): Promise<void> {
    return new Promise((resolve) => {
      const delayMs = Math.min(Math.max(0, limitMs ?? 0), LONGEST_TIMER_MS);
      const timer = limitMs === null ? undefined : setTimeout(() => wake(), delayMs);
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      this.#waiting.add(wake);
    });
  }

  /** Sleep until a condition holds; returns whether it did in time. */
  async until(predicate: () => boolean, limitMs: number | null = null): Promise<boolean> {
    const endMs = limitMs === null ? null : now() + limitMs;
    while (!predicate()) {
      if (endMs !== null && now() >= endMs) {
        return false;
      }
      await this.wait(endMs === null ? null : endMs - now());
    }
    return true;
  }
}

/** Milliseconds on a monotonic clock. */
export function now(): number {
  return performance.now();
}

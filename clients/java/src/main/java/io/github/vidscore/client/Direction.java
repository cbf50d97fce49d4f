package io.github.vidscore.client;

/** Which way a measure gets better. */
public enum Direction {
  /** Higher is better. */
  HIGHER,
  /** Lower is better. */
  LOWER,
  /** It says nothing about quality alone. */
  NONE
}

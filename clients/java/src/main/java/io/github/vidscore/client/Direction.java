package io.github.vidscore.client;

/** Which values of a measure are better. */
public enum Direction {
  /** Higher is better. */
  HIGHER,
  /** Lower is better. */
  LOWER,
  /** The measure alone says nothing about quality. */
  NONE
}

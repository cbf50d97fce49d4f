package io.github.vidscore.client;

/** Bits with properties of an object. */
public final class ObjectFlag {
  /** A don't-care object: not ground truth, and a detection of it is no false positive. */
  public static final int IGNORE = 1;

  /** A group of objects under one outline. */
  public static final int CROWD = 2;

  /** Not an object but an area in which nothing is scored. */
  public static final int REGION = 4;

  /** An object of a class that systems may confuse with the scored one. */
  public static final int DISTRACTOR = 8;

  private ObjectFlag() {}
}

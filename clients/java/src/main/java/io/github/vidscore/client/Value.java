package io.github.vidscore.client;

import java.util.OptionalDouble;
import java.util.OptionalLong;

/** A score: a count, a number, or undefined. Values of equal content are equal. */
public final class Value {
  private enum Kind {
    UNDEFINED,
    COUNT,
    NUMBER
  }

  /** No value. */
  public static final Value UNDEFINED = new Value(Kind.UNDEFINED, 0, 0);

  private final Kind kind;
  private final long count;
  private final double number;

  private Value(Kind kind, long count, double number) {
    this.kind = kind;
    this.count = count;
    this.number = number;
  }

  /**
   * A count as a value.
   *
   * @param count the count
   * @return the value
   */
  public static Value ofCount(long count) {
    return new Value(Kind.COUNT, count, 0);
  }

  /**
   * A number as a value.
   *
   * @param number the number
   * @return the value
   */
  public static Value ofNumber(double number) {
    return new Value(Kind.NUMBER, 0, number);
  }

  /**
   * Whether there is a value.
   *
   * @return whether it is not undefined
   */
  public boolean isDefined() {
    return kind != Kind.UNDEFINED;
  }

  /**
   * The value as a count.
   *
   * @return the count; empty if the value is not a count
   */
  public OptionalLong asCount() {
    return kind == Kind.COUNT ? OptionalLong.of(count) : OptionalLong.empty();
  }

  /**
   * The count or number.
   *
   * @return the number; empty if the value is undefined
   */
  public OptionalDouble asDouble() {
    return switch (kind) {
      case COUNT -> OptionalDouble.of(count);
      case NUMBER -> OptionalDouble.of(number);
      case UNDEFINED -> OptionalDouble.empty();
    };
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Value value
        && kind == value.kind
        && count == value.count
        && Double.compare(number, value.number) == 0;
  }

  @Override
  public int hashCode() {
    return 31 * Long.hashCode(count) + Double.hashCode(number);
  }

  /** {@return a text that reads back to the same value, or {@code undefined}} */
  @Override
  public String toString() {
    return switch (kind) {
      case COUNT -> Long.toString(count);
      case NUMBER -> Double.toString(number);
      case UNDEFINED -> "undefined";
    };
  }
}

package io.github.vidscore.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Base of everything that can go wrong; it has all that the server said.
 *
 * <p>The class is chosen by the canonical gRPC code and, for what programs handle apart, by the
 * {@link #reason() reason}, a stable upper-case word.
 */
public class VidscoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  VidscoreException(Failure failure) {
    super(failure.text(), failure.cause());
    this.failure = failure;
  }

  /**
   * What went wrong, without the list of violations that {@link #getMessage()} has.
   *
   * @return the message
   */
  public String message() {
    return failure.message();
  }

  /**
   * The canonical gRPC code by name.
   *
   * @return the code, such as {@code INVALID_ARGUMENT}; empty for an error that was found on this
   *     side before anything was sent
   */
  public String code() {
    return failure.code();
  }

  /**
   * A stable upper-case word for machines.
   *
   * @return the reason; the code where the server gave none
   */
  public String reason() {
    return failure.reason().isEmpty() ? failure.code() : failure.reason();
  }

  /**
   * What is wrong with the request.
   *
   * @return the violations; the server sends the first twenty
   */
  public List<FieldViolation> violations() {
    return failure.violations();
  }

  /**
   * How many things are wrong in all.
   *
   * @return the number of violations, sent or not
   */
  public int violationCount() {
    return failure.violationCount();
  }

  /**
   * Further facts that the server gave.
   *
   * @return the facts by name
   */
  public Map<String, String> metadata() {
    return failure.metadata();
  }

  /**
   * When the server says that the same may go well.
   *
   * @return the time to wait; empty where it says nothing of the kind
   */
  public Optional<Duration> retryDelay() {
    return Optional.ofNullable(failure.retryDelay());
  }

  /**
   * Whether the same call may well succeed if it is made again later.
   *
   * @return whether to try again
   */
  public boolean isRetryable() {
    return false;
  }

  /** The same once more, for another thread: with that thread's stack, and this one as cause. */
  VidscoreException again() {
    return failure.withCause(getCause() == null ? this : getCause()).exception(getClass());
  }
}

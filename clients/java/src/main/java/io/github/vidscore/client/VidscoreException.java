package io.github.vidscore.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Base of all errors; it carries all details from the server.
 *
 * <p>The class is chosen by the canonical gRPC code and, for errors that programs handle
 * separately, by the {@link #reason() reason}, a stable upper-case word.
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
   * @return the reason; the code if the server gave none
   */
  public String reason() {
    return failure.reason().isEmpty() ? failure.code() : failure.reason();
  }

  /**
   * The faults of the request.
   *
   * @return the violations; the server sends the first twenty
   */
  public List<FieldViolation> violations() {
    return failure.violations();
  }

  /**
   * The number of all faults.
   *
   * @return the number of violations, sent or not
   */
  public int violationCount() {
    return failure.violationCount();
  }

  /**
   * Further facts from the server.
   *
   * @return the facts by name
   */
  public Map<String, String> metadata() {
    return failure.metadata();
  }

  /**
   * The time after which a retry may succeed, according to the server.
   *
   * @return the time to wait; empty if it gives none
   */
  public Optional<Duration> retryDelay() {
    return Optional.ofNullable(failure.retryDelay());
  }

  /**
   * Whether the same call may succeed later.
   *
   * @return whether to try again
   */
  public boolean isRetryable() {
    return false;
  }

  /** A copy for another thread: with that thread's stack, and this one as cause. */
  VidscoreException again() {
    return failure.withCause(getCause() == null ? this : getCause()).exception(getClass());
  }
}

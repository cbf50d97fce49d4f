package io.github.vidscore.client;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The facts about an error: the state of an exception. */
record Failure(
    String message,
    String code,
    String reason,
    List<FieldViolation> violations,
    int violationCount,
    Map<String, String> metadata,
    Duration retryDelay,
    Throwable cause) {

  private static final Map<Class<?>, Function<Failure, VidscoreException>> CONSTRUCTORS =
      Map.ofEntries(
          Map.entry(InvalidArgumentException.class, InvalidArgumentException::new),
          Map.entry(NotFoundException.class, NotFoundException::new),
          Map.entry(LimitExceededException.class, LimitExceededException::new),
          Map.entry(QuotaExceededException.class, QuotaExceededException::new),
          Map.entry(UnavailableException.class, UnavailableException::new),
          Map.entry(DeadlineException.class, DeadlineException::new),
          Map.entry(CallCancelledException.class, CallCancelledException::new),
          Map.entry(PermissionDeniedException.class, PermissionDeniedException::new),
          Map.entry(ConflictException.class, ConflictException::new),
          Map.entry(SupersededException.class, SupersededException::new),
          Map.entry(SubmissionEndedException.class, SubmissionEndedException::new),
          Map.entry(VersionException.class, VersionException::new),
          Map.entry(UnsupportedException.class, UnsupportedException::new),
          Map.entry(InternalException.class, InternalException::new),
          Map.entry(InputException.class, InputException::new),
          Map.entry(BackPressureException.class, BackPressureException::new),
          Map.entry(ClosedException.class, ClosedException::new),
          Map.entry(CallbackException.class, CallbackException::new));

  static Failure of(String message) {
    return new Failure(message, "", "", List.of(), 0, Map.of(), null, null);
  }

  Failure withCode(String name) {
    return new Failure(
        message, name, reason, violations, violationCount, metadata, retryDelay, cause);
  }

  Failure withReason(String word) {
    return new Failure(
        message, code, word, violations, violationCount, metadata, retryDelay, cause);
  }

  Failure withMetadata(Map<String, String> facts) {
    return new Failure(message, code, reason, violations, violationCount, facts, retryDelay, cause);
  }

  Failure withCause(Throwable origin) {
    return new Failure(
        message, code, reason, violations, violationCount, metadata, retryDelay, origin);
  }

  Failure withRetryDelay(Duration delay) {
    return new Failure(message, code, reason, violations, violationCount, metadata, delay, cause);
  }

  VidscoreException exception(Class<?> kind) {
    return CONSTRUCTORS.get(kind).apply(this);
  }

  /** The message and, if there are several, the violations. */
  String text() {
    StringBuilder text = new StringBuilder(message);
    if (violationCount > 1) {
      // If there is one violation, the server's message states it; otherwise it states the first.
      violations.forEach(violation -> text.append("\n  ").append(violation));
    }
    if (violationCount > violations.size()) {
      text.append("\n  ... and ").append(violationCount - violations.size()).append(" more");
    }
    return text.toString();
  }

  static VidscoreException input(String argument, Object found, String expected) {
    String message = argument + ": found " + found + ", expected " + expected;
    return of(message).withReason("INVALID_INPUT").exception(InputException.class);
  }

  static VidscoreException closed(String message) {
    return of(message).withReason("CLOSED").exception(ClosedException.class);
  }

  static VidscoreException internal(String message) {
    return of(message).exception(InternalException.class);
  }

  static VidscoreException unavailable(String message) {
    return of(message).withCode("UNAVAILABLE").exception(UnavailableException.class);
  }

  static VidscoreException deadline(String message) {
    return of(message).withCode("DEADLINE_EXCEEDED").exception(DeadlineException.class);
  }

  static VidscoreException cancelled(String message) {
    return of(message).withCode("CANCELLED").exception(CallCancelledException.class);
  }

  static VidscoreException backPressure(String message) {
    return of(message).withReason("BACK_PRESSURE").exception(BackPressureException.class);
  }

  static VidscoreException callback(String message, Throwable cause) {
    return of(message)
        .withReason("CALLBACK_FAILED")
        .withCause(cause)
        .exception(CallbackException.class);
  }
}

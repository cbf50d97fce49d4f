package io.github.vidscore.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Turns the status of a call into an exception. */
final class Statuses {
  private static final String ERROR_DOMAIN = "vidscore";

  /** Metadata key of the number of all violations. */
  private static final String VIOLATION_COUNT = "violations";

  /** Text with which the server's gRPC refuses a message before the server reads it. */
  private static final Pattern MESSAGE_TOO_LARGE =
      Pattern.compile("SERVER: Received message larger than max \\((\\d+) vs\\. (\\d+)\\)");

  private static final Metadata.Key<com.google.rpc.Status> DETAILS =
      Metadata.Key.of(
          "grpc-status-details-bin",
          ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));

  private static final Map<Status.Code, Class<?>> KINDS =
      Map.ofEntries(
          Map.entry(Status.Code.CANCELLED, CallCancelledException.class),
          Map.entry(Status.Code.UNKNOWN, InternalException.class),
          Map.entry(Status.Code.INVALID_ARGUMENT, InvalidArgumentException.class),
          Map.entry(Status.Code.DEADLINE_EXCEEDED, DeadlineException.class),
          Map.entry(Status.Code.NOT_FOUND, NotFoundException.class),
          Map.entry(Status.Code.ALREADY_EXISTS, ConflictException.class),
          Map.entry(Status.Code.PERMISSION_DENIED, PermissionDeniedException.class),
          Map.entry(Status.Code.RESOURCE_EXHAUSTED, LimitExceededException.class),
          Map.entry(Status.Code.FAILED_PRECONDITION, ConflictException.class),
          Map.entry(Status.Code.ABORTED, ConflictException.class),
          Map.entry(Status.Code.OUT_OF_RANGE, ConflictException.class),
          Map.entry(Status.Code.UNIMPLEMENTED, UnsupportedException.class),
          Map.entry(Status.Code.INTERNAL, InternalException.class),
          Map.entry(Status.Code.UNAVAILABLE, UnavailableException.class),
          Map.entry(Status.Code.DATA_LOSS, InternalException.class),
          Map.entry(Status.Code.UNAUTHENTICATED, PermissionDeniedException.class));

  /** Reasons with their own kind, a special case of the code's. */
  private static final Map<String, Class<?>> SPECIAL_KINDS =
      Map.of(
          "EPOCH_STALE", SupersededException.class,
          "QUOTA_EXCEEDED", QuotaExceededException.class,
          "SUBMISSION_ENDED", SubmissionEndedException.class,
          "VERSION_UNSUPPORTED", VersionException.class);

  private Statuses() {}

  static VidscoreException exceptionOf(Throwable thrown) {
    if (thrown instanceof VidscoreException known) {
      return known;
    }
    Status status = Status.fromThrowable(thrown);
    if (status.getCause() instanceof VidscoreException own) {
      return own.again();
    }
    Matcher tooLarge = MESSAGE_TOO_LARGE.matcher(message(status));
    if (status.getCode() == Status.Code.RESOURCE_EXHAUSTED && tooLarge.matches()) {
      return messageTooLarge(tooLarge.group(1), tooLarge.group(2), thrown);
    }
    ErrorInfo information = ErrorInfo.getDefaultInstance();
    List<FieldViolation> violations = new ArrayList<>();
    Duration retryDelay = null;
    for (Any detail : details(Status.trailersFromThrowable(thrown))) {
      information = informationOf(detail, information);
      retryDelay = retryDelayOf(detail, retryDelay);
      addViolations(detail, violations);
    }
    boolean cut = information.getReason().isEmpty() && isCut(status);
    Status.Code code = cut ? Status.Code.UNAVAILABLE : status.getCode();
    boolean overdue =
        code == Status.Code.DEADLINE_EXCEEDED && information.getReason().isEmpty();
    return new Failure(
            overdue ? "the call has exceeded its timeout" : message(status),
            code.name(),
            information.getReason(),
            List.copyOf(violations),
            count(information.getMetadataMap(), violations.size()),
            Map.copyOf(information.getMetadataMap()),
            retryDelay,
            thrown)
        .exception(SPECIAL_KINDS.getOrDefault(information.getReason(), KINDS.get(code)));
  }

  private static VidscoreException messageTooLarge(String size, String maximum, Throwable cause) {
    return new Failure(
            "a message of %s bytes; the server accepts at most %s: ".formatted(size, maximum)
                + "send less at once, or raise its limit maximum_message_bytes",
            Status.Code.RESOURCE_EXHAUSTED.name(),
            "LIMIT_EXCEEDED",
            List.of(),
            0,
            Map.of("limit", "maximum_message_bytes", "maximum", maximum),
            null,
            cause)
        .exception(LimitExceededException.class);
  }

  /**
   * Whether a status is not a server's answer, but that of a connection that was closed during the
   * call or does not speak HTTP/2, or of a call that reached gRPC's server while it stopped. An
   * answer has no cause; a call that this client has cancelled has one, or a context.
   */
  private static boolean isCut(Status status) {
    Throwable cause = status.getCause();
    return switch (status.getCode()) {
      case CANCELLED -> cause == null && !Context.current().isCancelled();
      case UNKNOWN -> cause instanceof IOException;
      case INTERNAL -> cause != null && "http2 exception".equals(status.getDescription());
      default -> false;
    };
  }

  /**
   * The text of the server. grpc's own "io exception" can be understood only with its causes; the
   * last one says what happened, such as a certificate for another name.
   */
  private static String message(Status status) {
    Set<String> texts = new LinkedHashSet<>();
    texts.add(status.getDescription());
    for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
      texts.add(cause.getMessage());
    }
    texts.removeIf(text -> text == null || text.isEmpty());
    return texts.isEmpty() ? "the call ended with " + status.getCode() : String.join(": ", texts);
  }

  private static List<Any> details(Metadata trailers) {
    if (trailers == null) {
      return List.of();
    }
    try {
      com.google.rpc.Status details = trailers.get(DETAILS);
      return details == null ? List.of() : details.getDetailsList();
    } catch (IllegalArgumentException foreign) {
      return List.of(); // invalid details from a proxy: the code and the text still hold
    }
  }

  private static ErrorInfo informationOf(Any detail, ErrorInfo known) {
    try {
      ErrorInfo found = detail.is(ErrorInfo.class) ? detail.unpack(ErrorInfo.class) : known;
      return found.getDomain().equals(ERROR_DOMAIN) ? found : known;
    } catch (InvalidProtocolBufferException foreign) {
      return known;
    }
  }

  private static Duration retryDelayOf(Any detail, Duration known) {
    try {
      if (!detail.is(RetryInfo.class)) {
        return known;
      }
      var delay = detail.unpack(RetryInfo.class).getRetryDelay();
      Duration said = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
      return said.isNegative() ? Duration.ZERO : said;
    } catch (InvalidProtocolBufferException | ArithmeticException foreign) {
      return known;
    }
  }

  private static void addViolations(Any detail, List<FieldViolation> violations) {
    try {
      if (detail.is(BadRequest.class)) {
        for (BadRequest.FieldViolation violation :
            detail.unpack(BadRequest.class).getFieldViolationsList()) {
          violations.add(new FieldViolation(violation.getField(), violation.getDescription()));
        }
      }
    } catch (InvalidProtocolBufferException foreign) {
      // The code and the text still hold.
    }
  }

  private static int count(Map<String, String> metadata, int known) {
    String text = metadata.getOrDefault(VIOLATION_COUNT, "");
    return text.matches("\\d{1,9}") ? Math.max(known, Integer.parseInt(text)) : known;
  }
}

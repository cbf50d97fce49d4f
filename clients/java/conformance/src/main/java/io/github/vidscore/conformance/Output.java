package io.github.vidscore.conformance;

import io.github.vidscore.client.Column;
import io.github.vidscore.client.PermissionDeniedException;
import io.github.vidscore.client.Report;
import io.github.vidscore.client.Row;
import io.github.vidscore.client.Submission;
import io.github.vidscore.client.SubmissionScore;
import io.github.vidscore.client.Value;
import io.github.vidscore.client.VidscoreException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The documents that the runner prints, as maps and lists. */
final class Output {
  private Output() {}

  /** A JSON object of alternating names and values; a value may be null. */
  static Map<String, Object> document(Object... entries) {
    Map<String, Object> document = new LinkedHashMap<>();
    for (int index = 0; index < entries.length; index += 2) {
      document.put((String) entries[index], entries[index + 1]);
    }
    return document;
  }

  /** The name of the class in snake case, except for a class that Java names differently. */
  private static String kindOf(VidscoreException failure) {
    if (failure instanceof PermissionDeniedException) {
      return "access_denied";
    }
    String name = failure.getClass().getSimpleName().replaceFirst("Exception$", "");
    return name.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toLowerCase();
  }

  static Map<String, Object> error(VidscoreException failure) {
    return document(
        "kind", kindOf(failure),
        "code", failure.code(),
        "reason", failure.reason(),
        "message", failure.message(),
        "retryable", failure.isRetryable(),
        "violations",
            failure.violations().stream()
                .map(found -> document("field", found.field(), "description", found.description()))
                .toList(),
        "violation_count", failure.violationCount(),
        "metadata", failure.metadata());
  }

  static List<?> reports(List<Report> reports) {
    return reports.stream().map(Output::report).toList();
  }

  static Map<String, Object> report(Report report) {
    return document(
        "evaluator", report.evaluator(),
        "version", report.version(),
        "parameters", report.parameters(),
        "truth_digest", report.truthDigest(),
        "detections_digest", report.detectionsDigest(),
        "scores", report.scores().stream().map(Output::row).toList(),
        "curves",
            report.curves().stream()
                .map(
                    curve ->
                        document(
                            "name", curve.name(),
                            "domain", curve.domain(),
                            "label", curve.label(),
                            "columns", curve.columns().stream().map(Output::column).toList()))
                .toList(),
        "warnings",
            report.warnings().stream()
                .map(
                    warning ->
                        document(
                            "code", warning.code(),
                            "message", warning.message(),
                            "count", warning.count()))
                .toList());
  }

  static Map<String, Object> submission(Submission submission) {
    return document(
        "name", submission.name(),
        "team", submission.team(),
        "title", submission.title(),
        "state", submission.state().name().toLowerCase(),
        "state_reason", submission.stateReason(),
        "frame_count", submission.frameCount(),
        "streams",
            submission.streams().stream()
                .map(
                    stream ->
                        document(
                            "stream", stream.stream(),
                            "epoch", stream.epoch(),
                            "next_offset", stream.nextOffset()))
                .toList(),
        "warnings", submission.warnings());
  }

  static List<?> scores(List<SubmissionScore> scores) {
    return scores.stream()
        .map(
            score ->
                document(
                    "partial", score.partial(),
                    "current", score.current(),
                    "report", report(score.report())))
        .toList();
  }

  private static Map<String, Object> row(Row row) {
    return document(
        "domain", row.domain(),
        "label", row.label(),
        "sequence", row.sequence(),
        "measure", row.measure(),
        "value", value(row.value()),
        "kind", kind(row.value()));
  }

  private static Map<String, Object> column(Column column) {
    // A list of Java's library holds no null.
    Object[] values = column.values().stream().map(Output::value).toArray();
    return document("name", column.name(), "values", values);
  }

  private static Object value(Value value) {
    if (value.asCount().isPresent()) {
      return value.asCount().getAsLong();
    }
    return value.isDefined() ? (Object) value.asDouble().getAsDouble() : null;
  }

  private static String kind(Value value) {
    if (value.asCount().isPresent()) {
      return "count";
    }
    return value.isDefined() ? "number" : "undefined";
  }
}

package io.github.vidscore.client;

import com.google.protobuf.Timestamp;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** From the messages of the wire to this package's types. */
final class Decoding {
  private Decoding() {}

  static List<Report> reports(List<io.github.vidscore.v1.Report> messages) {
    return messages.stream().map(Decoding::report).toList();
  }

  static Report report(io.github.vidscore.v1.Report message) {
    return new Report(
        message.getEvaluator(),
        message.getVersion(),
        parameters(message.getParametersList()),
        message.getTruthDigest(),
        message.getDetectionsDigest(),
        Map.copyOf(message.getSoftwareMap()),
        message.getSpecification(),
        message.getScoresList().stream().map(Decoding::row).toList(),
        message.getCurvesList().stream().map(Decoding::curve).toList(),
        message.getWarningsList().stream()
            .map(entry -> new Warning(entry.getCode(), entry.getMessage(), entry.getCount()))
            .toList(),
        message.hasPreset() ? message.getPreset() : null);
  }

  static LiveReport live(io.github.vidscore.v1.LiveReport message) {
    io.github.vidscore.v1.Coverage coverage = message.getCoverage();
    return new LiveReport(
        reports(message.getReportsList()),
        new Coverage(
            coverage.getPairedFrames(),
            coverage.getFramesWaitingForDetections(),
            coverage.getFramesWaitingForTruth()));
  }

  static EvaluatorDescription evaluator(io.github.vidscore.v1.Evaluator message) {
    return new EvaluatorDescription(
        Names.lastPart(message.getName()),
        message.getVersion(),
        message.getTitle(),
        message.getTask(),
        message.getParametersSchema(),
        message.getMeasuresList().stream().map(Decoding::measure).toList(),
        List.copyOf(message.getRankingList()),
        geometries(message.getTruthGeometriesList()),
        geometries(message.getDetectionGeometriesList()),
        message.getUsesConfidences(),
        message.getNeedsTracks());
  }

  static Benchmark benchmark(io.github.vidscore.v1.Benchmark message) {
    return new Benchmark(
        Names.lastPart(message.getName()),
        message.getSpecification(),
        Geometry.of(message.getTruthGeometry()),
        Geometry.of(message.getDetectionGeometry()),
        message.hasOpenTime() ? time(message.getOpenTime()) : null,
        message.hasCloseTime() ? time(message.getCloseTime()) : null,
        message.getPolicy(),
        time(message.getCreateTime()),
        time(message.getUpdateTime()),
        message.getTruthRevision(),
        message.getTruthDigest());
  }

  static Submission submission(io.github.vidscore.v1.Submission message) {
    return new Submission(
        message.getName(),
        message.getTeam(),
        message.getTitle(),
        state(message.getState()),
        message.getStateReason(),
        message.getStateMessage(),
        time(message.getStateTime()),
        time(message.getCreateTime()),
        message.hasSealTime() ? time(message.getSealTime()) : null,
        message.getFrameCount(),
        message.getStreamsList().stream().map(Decoding::stream).toList(),
        message.getRevision(),
        List.copyOf(message.getWarningsList()));
  }

  static StreamInfo stream(io.github.vidscore.v1.StreamInfo message) {
    return new StreamInfo(message.getStream(), message.getEpoch(), message.getNextOffset());
  }

  static SubmissionScore score(io.github.vidscore.v1.SubmissionScore message) {
    return new SubmissionScore(
        message.getName(),
        time(message.getCreateTime()),
        message.getTruthRevision(),
        report(message.getReport()),
        message.getPartial(),
        message.getCurrent());
  }

  static SubmissionUpdate update(io.github.vidscore.v1.WatchSubmissionResponse message) {
    return new SubmissionUpdate(
        submission(message.getSubmission()),
        message.getScoresList().stream().map(Decoding::score).toList());
  }

  static LeaderboardRow leaderboardRow(io.github.vidscore.v1.LeaderboardRow message) {
    Map<String, Double> scores = new LinkedHashMap<>();
    message
        .getScoresList()
        .forEach(
            score -> scores.put(score.getMeasure(), score.hasValue() ? score.getValue() : null));
    return new LeaderboardRow(
        message.getRank(),
        message.getTeam(),
        message.getSubmission(),
        message.getTitle(),
        time(message.getSealTime()),
        Collections.unmodifiableMap(scores),
        message.getTruthRevision(),
        message.getEvaluatorVersion(),
        message.getApart());
  }

  static ServerInfo server(io.github.vidscore.v1.Server message) {
    return new ServerInfo(
        message.getVersion(),
        message.getOldestClientVersion(),
        message.getNewestClientVersion(),
        time(message.getTime()),
        message.getHosting(),
        message.getDraining());
  }

  private static Row row(io.github.vidscore.v1.Score score) {
    return new Row(
        score.hasDomain() ? score.getDomain() : null,
        score.hasLabel() ? score.getLabel() : null,
        score.hasSequence() ? score.getSequence() : null,
        score.getMeasure(),
        value(score.getValue()));
  }

  private static Curve curve(io.github.vidscore.v1.Curve curve) {
    return new Curve(
        curve.getName(),
        curve.hasDomain() ? curve.getDomain() : null,
        curve.hasLabel() ? curve.getLabel() : null,
        curve.getColumnsList().stream()
            .map(
                column ->
                    new Column(
                        column.getName(),
                        column.getValuesList().stream().map(Decoding::value).toList()))
            .toList());
  }

  private static Value value(io.github.vidscore.v1.Value message) {
    return switch (message.getKindCase()) {
      case COUNT -> Value.ofCount(message.getCount());
      case NUMBER -> Value.ofNumber(message.getNumber());
      case KIND_NOT_SET -> Value.UNDEFINED;
    };
  }

  private static Map<String, Object> parameters(List<io.github.vidscore.v1.Parameter> messages) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    messages.forEach(message -> parameters.put(message.getName(), parameter(message)));
    return Collections.unmodifiableMap(parameters);
  }

  private static Object parameter(io.github.vidscore.v1.Parameter message) {
    return switch (message.getValueCase()) {
      case BOOLEAN -> message.getBoolean();
      case INTEGER -> message.getInteger();
      case NUMBER -> message.getNumber();
      case TEXT -> message.getText();
      case NUMBERS -> List.copyOf(message.getNumbers().getValuesList());
      case TEXTS -> List.copyOf(message.getTexts().getValuesList());
      case VALUE_NOT_SET -> null;
    };
  }

  private static Measure measure(io.github.vidscore.v1.Measure message) {
    return new Measure(
        message.getName(),
        message.getDescription(),
        message.getUnit(),
        message.hasMinimum() ? message.getMinimum() : null,
        message.hasMaximum() ? message.getMaximum() : null,
        switch (message.getDirection()) {
          case DIRECTION_HIGHER -> Direction.HIGHER;
          case DIRECTION_LOWER -> Direction.LOWER;
          default -> Direction.NONE;
        },
        message.getAveraging());
  }

  private static List<Geometry> geometries(List<io.github.vidscore.v1.Geometry> messages) {
    return messages.stream().map(Geometry::of).filter(Objects::nonNull).toList();
  }

  private static SubmissionState state(io.github.vidscore.v1.SubmissionState message) {
    return switch (message) {
      case SUBMISSION_STATE_UNSPECIFIED, UNRECOGNIZED -> SubmissionState.UNKNOWN;
      default -> SubmissionState.valueOf(message.name().substring("SUBMISSION_STATE_".length()));
    };
  }

  private static Instant time(Timestamp message) {
    return Instant.ofEpochSecond(message.getSeconds(), message.getNanos());
  }
}

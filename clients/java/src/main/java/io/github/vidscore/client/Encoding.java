package io.github.vidscore.client;

import com.google.protobuf.Duration;
import io.github.vidscore.v1.AnnotationBatch;
import io.github.vidscore.v1.BenchmarkSpec;
import io.github.vidscore.v1.EvaluatorSpec;
import io.github.vidscore.v1.LiveReporting;
import io.github.vidscore.v1.NamedColumn;
import io.github.vidscore.v1.NumberList;
import io.github.vidscore.v1.Parameter;
import io.github.vidscore.v1.ScoreConfiguration;
import io.github.vidscore.v1.SequenceKey;
import io.github.vidscore.v1.TextList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.zip.CRC32;

/** From this package's types to the messages of the wire. */
final class Encoding {
  private static final int DONT_CARE_FRAME = 1;

  private Encoding() {}

  /**
   * CRC-32 of a batch's bytes, by which the server checks that they arrived as they were sent. A
   * message without maps is encoded the same each time, alone and inside another one.
   */
  static int checksum(AnnotationBatch batch) {
    CRC32 sum = new CRC32();
    sum.update(batch.toByteArray());
    return (int) sum.getValue();
  }

  /**
   * Frames as the columns of the wire. Columns with only default values are left out. The same
   * frames always give the same message.
   */
  static AnnotationBatch frames(List<Frame> frames, Geometry geometry) {
    AnnotationBatch.Builder message = AnnotationBatch.newBuilder().setGeometry(geometry.wire());
    Map<SequenceKey, Integer> sequences = new LinkedHashMap<>();
    for (Frame frame : frames) {
      SequenceKey key =
          SequenceKey.newBuilder().setDomain(frame.domain).setSequence(frame.sequence).build();
      message.addFrameSequences(row(sequences, key));
      message.addFrameNumbers(frame.number);
      message.addFrameObjectCounts(frame.objects(geometry.arity()));
      message.addFrameFlags(frame.dontCare ? DONT_CARE_FRAME : 0);
      message.addFrameTimesS(frame.timeS);
    }
    message.addAllSequences(sequences.keySet());
    addObjects(message, frames, geometry.arity());
    addColumns(message, frames);
    return withoutDefaults(message).build();
  }

  static ScoreConfiguration configuration(ScoreOptions options) {
    ScoreConfiguration.Builder message =
        ScoreConfiguration.newBuilder()
            .setSpecification(specification(options.evaluators(), options.specification()))
            .setTruthGeometry(options.truthGeometry().wire())
            .setDetectionGeometry(options.detectionGeometry().wire());
    Live live = options.live();
    if (live != null) {
      LiveReporting.Builder reporting =
          LiveReporting.newBuilder()
              .setFrameInterval(live.everyFrames())
              .setSummaryOnly(live.summaryOnly());
      if (live.every() != null) {
        reporting.setTimeInterval(
            Duration.newBuilder()
                .setSeconds(live.every().getSeconds())
                .setNanos(live.every().getNano()));
      }
      message.setLiveReporting(reporting);
    }
    return message.build();
  }

  /**
   * A specification and the chosen evaluators; if none are chosen, those of the specification
   * judge.
   */
  private static BenchmarkSpec specification(
      List<Evaluator> evaluators, BenchmarkSpec specification) {
    BenchmarkSpec.Builder message = specification.toBuilder();
    if (!evaluators.isEmpty()) {
      message.clearEvaluators();
    }
    for (Evaluator evaluator : evaluators) {
      EvaluatorSpec.Builder encoded = EvaluatorSpec.newBuilder().setName(evaluator.name());
      evaluator
          .parameters()
          .forEach(
              (name, value) -> encoded.addParameters(parameter(evaluator.name(), name, value)));
      message.addEvaluators(encoded);
    }
    if (message.getEvaluatorsCount() == 0) {
      throw Failure.input("evaluators", "none", "at least one");
    }
    return message.build();
  }

  private static Parameter parameter(String evaluator, String name, Object value) {
    Parameter.Builder message = Parameter.newBuilder().setName(Checks.text("parameters", name));
    if (value instanceof Boolean truth) {
      message.setBoolean(truth);
    } else if (value instanceof Integer || value instanceof Long) {
      message.setInteger(((Number) value).longValue());
    } else if (value instanceof Double number) {
      message.setNumber(number);
    } else if (value instanceof String text) {
      message.setText(Checks.text(name, text));
    } else if (value instanceof List<?> values
        && allAre(String.class, values)
        && !values.isEmpty()) {
      TextList.Builder texts = TextList.newBuilder();
      values.forEach(text -> texts.addValues(Checks.text(name, (String) text)));
      message.setTexts(texts);
    } else if (value instanceof List<?> values && allAre(Number.class, values)) {
      NumberList.Builder numbers = NumberList.newBuilder();
      values.forEach(number -> numbers.addValues(((Number) number).doubleValue()));
      message.setNumbers(numbers);
    } else {
      String found = value == null ? "null" : value.getClass().getSimpleName();
      throw Failure.input(
          evaluator + "." + name, found, "Boolean, Integer, Long, Double, String or a list");
    }
    return message.build();
  }

  private static boolean allAre(Class<?> kind, List<?> values) {
    return values.stream().allMatch(kind::isInstance);
  }

  private static void addObjects(AnnotationBatch.Builder message, List<Frame> frames, int arity) {
    Map<String, Integer> labels = new LinkedHashMap<>();
    for (Frame frame : frames) {
      for (double coordinate : frame.coordinates) {
        message.addCoordinates(coordinate);
      }
      for (int object = 0; object < frame.objects(arity); object++) {
        String label = frame.labels == null ? "" : frame.labels.get(object);
        message.addLabelIndices(row(labels, label));
        message.addConfidences(frame.confidences == null ? 1 : frame.confidences[object]);
        message.addTrackIds(frame.trackIds == null ? -1 : frame.trackIds[object]);
        message.addObjectFlags(frame.flags == null ? 0 : frame.flags[object]);
      }
      if (frame.masks != null) {
        addMasks(message, frame.masks);
      }
    }
    message.addAllLabels(labels.keySet());
  }

  private static void addMasks(AnnotationBatch.Builder message, List<Mask> masks) {
    for (Mask mask : masks) {
      message.addMaskHeights(mask.height);
      message.addMaskWidths(mask.width);
      message.addMaskRunCounts(mask.runs.length);
      for (int run : mask.runs) {
        message.addMaskRuns(run);
      }
    }
  }

  private static void addColumns(AnnotationBatch.Builder message, List<Frame> frames) {
    Map<String, NamedColumn.Builder> columns = new TreeMap<>();
    BiConsumer<String, double[]> add =
        (name, values) -> {
          NamedColumn.Builder column =
              columns.computeIfAbsent(name, key -> NamedColumn.newBuilder().setName(key));
          for (double value : values) {
            column.addValues(value);
          }
        };
    frames.stream()
        .filter(frame -> frame.coordinates.length > 0)
        .forEach(frame -> frame.columns.forEach(add));
    columns.values().forEach(message::addColumns);
  }

  private static AnnotationBatch.Builder withoutDefaults(AnnotationBatch.Builder message) {
    if (message.getLabelsList().stream().allMatch(String::isEmpty)) {
      message.clearLabels();
    }
    if (message.getFrameFlagsList().stream().allMatch(bits -> bits == 0)) {
      message.clearFrameFlags();
    }
    if (message.getFrameTimesSList().stream().allMatch(time -> time.isNaN())) {
      message.clearFrameTimesS();
    }
    if (message.getLabelIndicesList().stream().allMatch(row -> row == 0)) {
      message.clearLabelIndices();
    }
    if (message.getConfidencesList().stream().allMatch(confidence -> confidence == 1)) {
      message.clearConfidences();
    }
    if (message.getTrackIdsList().stream().allMatch(identity -> identity == -1)) {
      message.clearTrackIds();
    }
    if (message.getObjectFlagsList().stream().allMatch(bits -> bits == 0)) {
      message.clearObjectFlags();
    }
    return message;
  }

  /** The row of a value in a table that numbers values in the order in which they first appear. */
  private static <T> int row(Map<T, Integer> table, T value) {
    return table.computeIfAbsent(value, unknown -> table.size());
  }
}

package io.github.vidscore.client;

import io.github.vidscore.v1.BenchmarkSpec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Scores of one evaluator.
 *
 * @param evaluator name of the evaluator
 * @param version its version
 * @param parameters all parameters with the values that were used: a Boolean, Long, Double, String,
 *     or a list of Double or String
 * @param truthDigest fingerprint of the truth, 32 hexadecimal digits
 * @param detectionsDigest fingerprint of the detections
 * @param software versions of the server's software on which the last bits may depend
 * @param specification the specification under which it was scored
 * @param scores all scores
 * @param curves all curves
 * @param warnings all warnings
 * @param preset name of the preset that the evaluator belongs to; null if none
 */
public record Report(
    String evaluator,
    String version,
    Map<String, Object> parameters,
    String truthDigest,
    String detectionsDigest,
    Map<String, String> software,
    BenchmarkSpec specification,
    List<Row> scores,
    List<Curve> curves,
    List<Warning> warnings,
    String preset) {

  /**
   * One score over everything.
   *
   * @param measure name of the measure
   * @return the score; empty if the report has no such row
   */
  public Optional<Value> value(String measure) {
    return value(measure, null, null, null);
  }

  /**
   * One score; a null dimension stands for all.
   *
   * @param measure name of the measure
   * @param domain domain
   * @param label label
   * @param sequence sequence
   * @return the score; empty if the report has no such row
   */
  public Optional<Value> value(String measure, String domain, String label, String sequence) {
    return scores.stream()
        .filter(
            row ->
                row.measure().equals(measure)
                    && Objects.equals(row.domain(), domain)
                    && Objects.equals(row.label(), label)
                    && Objects.equals(row.sequence(), sequence))
        .map(Row::value)
        .findFirst();
  }
}

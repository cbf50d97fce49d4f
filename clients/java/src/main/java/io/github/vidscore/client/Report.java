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
 * @param parameters every parameter with the value that was used: a Boolean, Long, Double, String,
 *     or a list of Double or String
 * @param truthDigest fingerprint of the truth, 32 hexadecimal digits
 * @param detectionsDigest fingerprint of the detections
 * @param software versions of the server's software that the last bits may depend on
 * @param specification the specification that was scored under
 * @param scores every score
 * @param curves every curve
 * @param warnings every warning
 * @param preset name of the preset that the evaluator is of; null where it is of none
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
   * @return the score; empty where the report has no such row
   */
  public Optional<Value> value(String measure) {
    return value(measure, null, null, null);
  }

  /**
   * One score; a dimension that is null stands for all of them.
   *
   * @param measure name of the measure
   * @param domain domain
   * @param label label
   * @param sequence sequence
   * @return the score; empty where the report has no such row
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

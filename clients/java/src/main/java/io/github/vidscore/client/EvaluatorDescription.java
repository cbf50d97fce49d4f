package io.github.vidscore.client;

import com.google.protobuf.Struct;
import java.util.List;

/**
 * The rules of one benchmark protocol or criterion, as a server has them.
 *
 * @param name name by which it is chosen
 * @param version goes up whenever a score may change
 * @param title one line for lists
 * @param task what the judged systems do: {@code detection} or {@code tracking}
 * @param parametersSchema JSON Schema of its parameters
 * @param measures every measure that may stand in a report
 * @param ranking measures that decide the order of systems, first one first
 * @param truthGeometries shapes that objects of the truth may have, of those that can be sent
 * @param detectionGeometries shapes that detections may have, of those that can be sent
 * @param usesConfidences whether confidences play a part
 * @param needsTracks whether objects must carry a track id
 */
public record EvaluatorDescription(
    String name,
    String version,
    String title,
    String task,
    Struct parametersSchema,
    List<Measure> measures,
    List<String> ranking,
    List<Geometry> truthGeometries,
    List<Geometry> detectionGeometries,
    boolean usesConfidences,
    boolean needsTracks) {}

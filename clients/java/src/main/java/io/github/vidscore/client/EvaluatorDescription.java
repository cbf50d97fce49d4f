package io.github.vidscore.client;

import com.google.protobuf.Struct;
import java.util.List;

/**
 * The rules of one benchmark protocol or criterion, as a server has them.
 *
 * @param name name by which it is chosen
 * @param version increases whenever a score may change
 * @param title one line for lists
 * @param task task of the judged systems: {@code detection} or {@code tracking}
 * @param parametersSchema JSON Schema of its parameters
 * @param measures all measures that a report may have
 * @param ranking measures that order systems, first one first
 * @param truthGeometries shapes that objects of the truth may have, among those that can be sent
 * @param detectionGeometries shapes that detections may have, among those that can be sent
 * @param usesConfidences whether it uses confidences
 * @param needsTracks whether objects must have a track id
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

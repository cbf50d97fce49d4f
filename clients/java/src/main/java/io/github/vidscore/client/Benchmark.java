package io.github.vidscore.client;

import io.github.vidscore.v1.BenchmarkSpec;
import java.time.Instant;

/**
 * A specification, truth and a policy, hosted.
 *
 * @param name last part of its name, such as {@code streets}
 * @param specification its title, evaluators, domains and sequences
 * @param truthGeometry shape of the truth's objects; null as long as there is no truth
 * @param detectionGeometry shape of detections, likewise
 * @param openTime when submissions may be created from; null for at once
 * @param closeTime when submissions are sealed or cancelled; null for never
 * @param policy what is shown, allowed and ranked
 * @param createTime when it was created
 * @param updateTime when it was last changed
 * @param truthRevision newest revision of the truth, which organisers alone are told; otherwise 0
 * @param truthDigest digest of it, keyed with a secret of the server
 */
public record Benchmark(
    String name,
    BenchmarkSpec specification,
    Geometry truthGeometry,
    Geometry detectionGeometry,
    Instant openTime,
    Instant closeTime,
    io.github.vidscore.v1.Policy policy,
    Instant createTime,
    Instant updateTime,
    long truthRevision,
    String truthDigest) {}

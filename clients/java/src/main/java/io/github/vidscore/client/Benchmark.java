package io.github.vidscore.client;

import io.github.vidscore.v1.BenchmarkSpec;
import java.time.Instant;

/**
 * A hosted benchmark: a specification, truth and a policy.
 *
 * @param name last part of its name, such as {@code streets}
 * @param specification its title, evaluators, domains and sequences
 * @param truthGeometry shape of the truth's objects; null until truth is uploaded
 * @param detectionGeometry shape of detections, likewise
 * @param openTime when submissions may first be created; null for at once
 * @param closeTime when submissions are sealed or cancelled; null for never
 * @param policy what is shown, allowed and ranked
 * @param createTime when it was created
 * @param updateTime when it was last changed
 * @param truthRevision newest revision of the truth; only for organisers, otherwise 0
 * @param truthDigest digest of that revision, keyed with a secret of the server
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

package io.github.vidscore.client;

import java.time.Instant;

/**
 * A score of a submission; it never changes.
 *
 * @param name full name; empty for a live score
 * @param createTime when it was made
 * @param truthRevision revision of the truth, which organisers alone are told; otherwise 0
 * @param report the report, as far as the caller may see it
 * @param partial whether the truth was not complete: frames without truth were left out
 * @param current whether it is the newest of its evaluator
 */
public record SubmissionScore(
    String name,
    Instant createTime,
    long truthRevision,
    Report report,
    boolean partial,
    boolean current) {}

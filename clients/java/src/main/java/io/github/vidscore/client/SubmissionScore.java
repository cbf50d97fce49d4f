package io.github.vidscore.client;

import java.time.Instant;

/**
 * A score of a submission; it never changes.
 *
 * @param name full name; empty for a live score
 * @param createTime when it was made
 * @param truthRevision revision of the truth; only for organisers, otherwise 0
 * @param report the part of the report that the caller may see
 * @param partial whether the truth was not complete; frames without truth were left out
 * @param current whether it is the one score of its evaluator to show
 */
public record SubmissionScore(
    String name,
    Instant createTime,
    long truthRevision,
    Report report,
    boolean partial,
    boolean current) {}

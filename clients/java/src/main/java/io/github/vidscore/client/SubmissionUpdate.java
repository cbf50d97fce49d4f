package io.github.vidscore.client;

import java.util.List;

/**
 * A submission at a revision, and the scores that may be seen then.
 *
 * @param submission the submission
 * @param scores the scores
 */
public record SubmissionUpdate(Submission submission, List<SubmissionScore> scores) {}

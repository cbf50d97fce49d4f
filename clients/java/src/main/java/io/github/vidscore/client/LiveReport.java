package io.github.vidscore.client;

import java.util.List;

/**
 * Scores over exactly the frames that both sides have sent.
 *
 * @param reports a report for each evaluator, in the requested order
 * @param coverage how far both sides have come
 */
public record LiveReport(List<Report> reports, Coverage coverage) {}

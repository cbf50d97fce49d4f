package io.github.vidscore.client;

import java.util.List;

/**
 * Submissions in rank order.
 *
 * @param rows the rows, best rank first
 * @param ranking measures that rank, first one first
 * @param truthRevision revision of the truth that the ranked scores are under; 0 for none
 * @param newestTruthRevision newest revision of the truth that is complete; 0 for none
 */
public record Leaderboard(
    List<LeaderboardRow> rows,
    List<String> ranking,
    long truthRevision,
    long newestTruthRevision) {}

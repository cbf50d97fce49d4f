package io.github.vidscore.client;

import java.util.List;

/**
 * Submissions in rank order.
 *
 * @param rows the rows, best rank first
 * @param ranking measures that rank, first one first
 * @param truthRevision revision of the truth of the ranked scores; 0 for none
 * @param newestTruthRevision newest complete revision of the truth; 0 for none
 */
public record Leaderboard(
    List<LeaderboardRow> rows,
    List<String> ranking,
    long truthRevision,
    long newestTruthRevision) {}

package io.github.vidscore.client;

import java.util.List;

/**
 * Submissions in rank order.
 *
 * @param rows the rows, best rank first
 * @param ranking measures that rank, first one first
 * @param truthRevision revision of the truth, which organisers alone are told; otherwise 0
 */
public record Leaderboard(List<LeaderboardRow> rows, List<String> ranking, long truthRevision) {}

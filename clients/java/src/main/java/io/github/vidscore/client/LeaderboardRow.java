package io.github.vidscore.client;

import java.time.Instant;
import java.util.Map;

/**
 * One submission on the board.
 *
 * @param rank rank from 1 on; equal scores share one
 * @param team team
 * @param submission full name of the submission, where it may be seen; otherwise empty
 * @param title its title
 * @param sealTime when it was sealed
 * @param scores released measures by name; null where one is undefined
 */
public record LeaderboardRow(
    int rank,
    String team,
    String submission,
    String title,
    Instant sealTime,
    Map<String, Double> scores) {}

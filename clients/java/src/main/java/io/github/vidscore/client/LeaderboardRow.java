package io.github.vidscore.client;

import java.time.Instant;
import java.util.Map;

/**
 * One submission on the board.
 *
 * @param rank rank from 1 on; equal scores share one; 0 if the row is apart
 * @param team team
 * @param submission full name of the submission, if it may be seen; otherwise empty
 * @param title its title
 * @param sealTime when it was sealed
 * @param scores released measures by name; null if one is undefined
 * @param truthRevision revision of the truth under which the scores were computed
 * @param evaluatorVersion version of the evaluator that computed them
 * @param apart whether the scores cannot be compared with those of the ranked rows: the submission
 *     could not be scored again under the same truth, evaluator and parameters
 */
public record LeaderboardRow(
    int rank,
    String team,
    String submission,
    String title,
    Instant sealTime,
    Map<String, Double> scores,
    long truthRevision,
    String evaluatorVersion,
    boolean apart) {}

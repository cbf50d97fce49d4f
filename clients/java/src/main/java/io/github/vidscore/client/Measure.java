package io.github.vidscore.client;

/**
 * One score that an evaluator reports.
 *
 * @param name name in reports
 * @param description what it says, in one sentence
 * @param unit {@code count}, {@code ratio}, {@code px}, {@code px^2} and the like
 * @param minimum least value; null where there is none
 * @param maximum greatest value; null where there is none
 * @param direction which way is better
 * @param averaging how values over many frames come about: {@code pooled}, {@code mean} or {@code
 *     median}
 */
public record Measure(
    String name,
    String description,
    String unit,
    Double minimum,
    Double maximum,
    Direction direction,
    String averaging) {}

package io.github.vidscore.client;

/**
 * One score that an evaluator reports.
 *
 * @param name name in reports
 * @param description its meaning, in one sentence
 * @param unit unit, such as {@code count}, {@code ratio}, {@code px} or {@code px^2}
 * @param minimum lower bound; null if there is none
 * @param maximum upper bound; null if there is none
 * @param direction which values are better
 * @param averaging how values over many frames are combined: {@code pooled}, {@code mean} or {@code
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

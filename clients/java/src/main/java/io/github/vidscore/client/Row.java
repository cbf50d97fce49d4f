package io.github.vidscore.client;

/**
 * One score with its dimensions; a null dimension stands for all.
 *
 * @param domain domain; null for all
 * @param label label; null for all
 * @param sequence sequence; null for all
 * @param measure name of the measure
 * @param value the score
 */
public record Row(String domain, String label, String sequence, String measure, Value value) {}

package io.github.vidscore.client;

/**
 * A doubt for the reader of the scores.
 *
 * @param code stable code
 * @param message a sentence
 * @param count how often it occurs
 */
public record Warning(String code, String message, long count) {}

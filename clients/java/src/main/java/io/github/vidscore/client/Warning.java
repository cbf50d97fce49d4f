package io.github.vidscore.client;

/**
 * Something that a reader of the scores should know.
 *
 * @param code stable code
 * @param message a sentence
 * @param count how often
 */
public record Warning(String code, String message, long count) {}

package io.github.vidscore.client;

/**
 * An append stream.
 *
 * @param stream its name
 * @param epoch epoch of its writer
 * @param nextOffset offset of its next frame
 */
public record StreamInfo(String stream, long epoch, long nextOffset) {}

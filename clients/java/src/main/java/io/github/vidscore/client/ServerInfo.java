package io.github.vidscore.client;

import java.time.Instant;

/**
 * A server.
 *
 * @param version its version
 * @param oldestClientVersion oldest version of clients that it works with
 * @param newestClientVersion newest version of clients that it works with
 * @param time its time
 * @param hosting whether it hosts benchmarks
 * @param draining whether it is about to stop
 */
public record ServerInfo(
    String version,
    String oldestClientVersion,
    String newestClientVersion,
    Instant time,
    boolean hosting,
    boolean draining) {}

package io.github.vidscore.client;

import java.time.Instant;

/**
 * Description of a server.
 *
 * @param version its version
 * @param oldestClientVersion oldest client version that it works with
 * @param newestClientVersion newest client version that it works with
 * @param time time of its clock
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

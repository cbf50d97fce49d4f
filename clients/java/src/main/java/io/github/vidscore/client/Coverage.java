package io.github.vidscore.client;

/**
 * How far both sides have come.
 *
 * @param pairedFrames frames that both sides have sent
 * @param framesWaitingForDetections frames of the truth whose detections have not come
 * @param framesWaitingForTruth frames of the detections whose truth has not come
 */
public record Coverage(
    long pairedFrames, long framesWaitingForDetections, long framesWaitingForTruth) {}

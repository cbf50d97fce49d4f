package io.github.vidscore.client;

/**
 * How far both sides have come.
 *
 * @param pairedFrames number of frames that both sides have sent
 * @param framesWaitingForDetections number of truth frames without received detections
 * @param framesWaitingForTruth number of detection frames without received truth
 */
public record Coverage(
    long pairedFrames, long framesWaitingForDetections, long framesWaitingForTruth) {}

package io.github.vidscore.client;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One system's detections for a benchmark.
 *
 * @param name full name: {@code benchmarks/{benchmark}/submissions/{submission}}
 * @param team team that it belongs to
 * @param title title for people
 * @param state where it stands
 * @param stateReason why it stands there: a stable code
 * @param stateMessage the same for people
 * @param stateTime since when
 * @param createTime when it was created
 * @param sealTime when it was sealed; null while it is not
 * @param frameCount frames that are durable, in all streams together
 * @param streams its append streams
 * @param revision goes up whenever anything of it changes
 */
public record Submission(
    String name,
    String team,
    String title,
    SubmissionState state,
    String stateReason,
    String stateMessage,
    Instant stateTime,
    Instant createTime,
    Instant sealTime,
    long frameCount,
    List<StreamInfo> streams,
    long revision) {

  /**
   * One of its append streams.
   *
   * @param stream name of the stream
   * @return the stream; empty where it is not there
   */
  public Optional<StreamInfo> stream(String stream) {
    return streams.stream().filter(known -> known.stream().equals(stream)).findFirst();
  }
}

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
 * @param state its state
 * @param stateReason stable code for why it has this state
 * @param stateMessage the reason for people
 * @param stateTime time since which it has this state
 * @param createTime when it was created
 * @param sealTime when it was sealed; null before
 * @param frameCount number of durable frames, in all streams together
 * @param streams its append streams
 * @param revision increases with each change
 * @param warnings doubts about its detections, for people: names that the benchmark does not have,
 *     if names are public
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
    long revision,
    List<String> warnings) {

  /**
   * One of its append streams.
   *
   * @param stream name of the stream
   * @return the stream; empty if there is none
   */
  public Optional<StreamInfo> stream(String stream) {
    return streams.stream().filter(known -> known.stream().equals(stream)).findFirst();
  }
}

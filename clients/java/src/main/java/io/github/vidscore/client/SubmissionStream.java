package io.github.vidscore.client;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * A stream of detections into a submission; made by {@link VidscoreClient#submit}.
 *
 * <p>Every method may be called from any thread; frames of one thread are sent in its order.
 * Closing it, as try-with-resources does, delivers what was taken; {@link #abort} drops it.
 */
public final class SubmissionStream implements AutoCloseable {
  private final Submissions submissions;
  private final Sender.Opened opened;
  private final Delivery delivery;
  private final Sender sender;
  private final Consumer<SubmissionStream> onClose;

  SubmissionStream(
      Calls calls,
      Sender.Opened opened,
      SubmitOptions options,
      Consumer<SubmissionStream> onClose) {
    this.submissions = new Submissions(calls);
    this.opened = opened;
    this.delivery = options.delivery();
    this.sender = new Sender(calls, opened, options);
    this.onClose = onClose;
  }

  /**
   * Full name of the submission.
   *
   * @return the name
   */
  public String submission() {
    return opened.submission().name();
  }

  /**
   * Frames of the stream that were durable when it was opened; where to go on from.
   *
   * @return the number of frames
   */
  public long nextOffset() {
    return opened.stream().nextOffset();
  }

  /**
   * Frames of the stream that are known to be durable.
   *
   * @return the number of frames
   */
  public long acknowledgedFrames() {
    return sender.acknowledged();
  }

  /**
   * Frames that were taken and are not known to be durable; after the end of the stream, those that
   * were given up.
   *
   * @return the number of frames
   */
  public int undeliveredFrames() {
    return sender.undelivered();
  }

  /**
   * Sends one whole frame of detections; returns as soon as it is queued. A frame is sent once,
   * over all streams of the submission.
   *
   * @param frame the frame
   * @throws InputException if its columns have the wrong length
   * @throws BackPressureException if the queue is full, as the policy says
   * @throws SupersededException if a younger writer has opened the stream
   * @throws VidscoreException what the stream failed with
   */
  public void send(Frame frame) {
    sender.put(List.of(Checks.given("frame", frame)), true);
  }

  /**
   * Sends many whole frames, which do not wait for others. The exceptions are those of {@link
   * #send}.
   *
   * @param frames the frames
   */
  public void sendBatch(List<Frame> frames) {
    if (!frames.isEmpty()) {
      sender.put(List.copyOf(frames), false);
    }
  }

  /**
   * Waits until every frame that was sent is durable.
   *
   * @return frames of the stream that are durable
   * @throws VidscoreException what the stream failed with
   */
  public long flush() {
    return flush(null);
  }

  /**
   * Waits until every frame that was sent is durable.
   *
   * @param timeout longest time to wait; null for no limit but that of the retry
   * @return frames of the stream that are durable
   * @throws DeadlineException if they are not in time; the stream goes on
   * @throws CallbackException in {@code onAcknowledged}, which would wait for itself
   * @throws VidscoreException what the stream failed with
   */
  public long flush(Duration timeout) {
    return sender.flush(timeout);
  }

  /**
   * Waits until every frame is durable, ends the stream and seals the submission.
   *
   * @param expectedFrames frames that must be durable in all streams together; negative for
   *     whatever is there
   * @return the sealed submission
   * @throws ConflictException if another number of frames is durable, with reason {@code
   *     FRAME_COUNT_DIFFERS}; nothing is sealed
   * @throws VidscoreException if it cannot be sealed for another reason
   */
  public Submission seal(long expectedFrames) {
    flush();
    close();
    return submissions.seal(submission(), expectedFrames, delivery.retry());
  }

  /**
   * Waits until the submission has ended: it is scored, has failed, or was cancelled.
   *
   * @param timeout longest time to wait; null for no limit
   * @return the submission
   * @throws DeadlineException if it has not ended in time; it goes on
   * @throws VidscoreException if it cannot be watched
   */
  public Submission await(Duration timeout) {
    return submissions.await(submission(), timeout, delivery.retry());
  }

  /**
   * What may be seen of the submission's scores.
   *
   * @return the scores, newest first
   */
  public List<SubmissionScore> scores() {
    return submissions.scores(submission());
  }

  /**
   * Delivers what was taken and ends the stream, at most after {@link Delivery#closeTimeout}; the
   * submission stays open. May be called again; after {@link #abort} it does nothing.
   *
   * @throws DeadlineException if frames are not durable in time; they are given up, and the text
   *     and {@link #undeliveredFrames} say how many
   * @throws CallbackException in {@code onAcknowledged}, which would wait for itself
   * @throws VidscoreException what the stream failed with, if it had frames that are not durable
   */
  @Override
  public void close() {
    sender.refuseInCallback(); // the client still closes it then
    try {
      sender.close(delivery.closeTimeout());
    } finally {
      onClose.accept(this);
    }
  }

  /** Ends the stream at once; frames that are not durable are given up. */
  public void abort() {
    sender.abort();
    onClose.accept(this);
  }

  Sender sender() {
    return sender;
  }
}

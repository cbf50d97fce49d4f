package io.github.vidscore.client;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/**
 * A stream of detections into a submission; made by {@link VidscoreClient#submit}.
 *
 * <p>Every method may be called from any thread; frames of one thread are sent in its order.
 * Closing it, as try-with-resources does, delivers the accepted frames; {@link #abort} drops them.
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
   * Number of frames of the stream that were durable when it was opened, the offset from which to
   * continue.
   *
   * @return the number of frames
   */
  public long nextOffset() {
    return opened.stream().nextOffset();
  }

  /**
   * Number of frames of the stream that are known to be durable.
   *
   * @return the number of frames
   */
  public long acknowledgedFrames() {
    return sender.acknowledged();
  }

  /**
   * Number of accepted frames that are not known to be durable; after the end of the stream, of
   * dropped frames.
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
   * @throws SupersededException if a newer writer has opened the stream
   * @throws VidscoreException the error with which the stream failed
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
   * Waits until all sent frames are durable.
   *
   * @return number of durable frames of the stream
   * @throws VidscoreException the error with which the stream failed
   */
  public long flush() {
    return flush(null);
  }

  /**
   * Waits until all sent frames are durable.
   *
   * @param timeout longest time to wait; null for only the limit of the retry
   * @return number of durable frames of the stream
   * @throws DeadlineException if they are not durable in time; the stream continues
   * @throws CallbackException in {@code onAcknowledged}, which would wait for itself
   * @throws VidscoreException the error with which the stream failed
   */
  public long flush(Duration timeout) {
    return sender.flush(timeout);
  }

  /**
   * Waits until every frame is durable, ends the stream and seals the submission.
   *
   * @param expectedFrames number of frames that must be durable in all streams together; negative
   *     for any number
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
   * @throws DeadlineException if it has not ended in time; it continues
   * @throws VidscoreException if it cannot be watched
   */
  public Submission await(Duration timeout) {
    return submissions.await(submission(), timeout, delivery.retry());
  }

  /**
   * The scores of the submission that the caller may see.
   *
   * @return the scores, newest first
   */
  public List<SubmissionScore> scores() {
    return submissions.scores(submission());
  }

  /**
   * Delivers the accepted frames and ends the stream, within {@link Delivery#closeTimeout}; the
   * submission stays open. May be called again; after {@link #abort} it does nothing.
   *
   * @throws DeadlineException if frames are not durable in time; they are dropped, and the text and
   *     {@link #undeliveredFrames} give their number
   * @throws CallbackException in {@code onAcknowledged}, which would wait for itself
   * @throws VidscoreException the error of the stream, if it had frames that are not durable
   */
  @Override
  public void close() {
    sender.refuseInCallback(); // the client still closes it then
    try {
      sender.close(delivery.closeTimeout());
    } finally {
      if (sender.ended()) { // an interrupted thread leaves it to the client
        onClose.accept(this);
      }
    }
  }

  /** Ends the stream at once and drops the frames that are not durable. */
  public void abort() {
    sender.abort();
    onClose.accept(this);
  }

  Sender sender() {
    return sender;
  }
}

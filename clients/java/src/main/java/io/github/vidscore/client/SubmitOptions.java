package io.github.vidscore.client;

/**
 * How detections are sent into a submission.
 *
 * @param submission last part of the submission's name: 1 to 63 lower-case letters, digits and
 *     hyphens, a letter first; empty: the server chooses
 * @param stream stream of the submission that this program writes. Programs that send at the same
 *     time use a stream each; opening a stream that another program writes excludes that program
 * @param title title of a new submission, for people
 * @param replay whether the caller sends the same frames again from the first one on, in the same
 *     order, so that durable ones are left out
 * @param batching how frames are batched, and what happens if the server is slow
 * @param delivery how frames are kept until they are acknowledged, and what happens after a break
 */
public record SubmitOptions(
    String submission,
    String stream,
    String title,
    boolean replay,
    Batching batching,
    Delivery delivery) {

  /** A submission that the server names, and its default stream. */
  public static final SubmitOptions DEFAULT =
      new SubmitOptions("", "default", "", false, Batching.DEFAULT, Delivery.DEFAULT);

  /**
   * Checks the options.
   *
   * @param submission see {@link #submission}
   * @param stream see {@link #stream}
   * @param title see {@link #title}
   * @param replay see {@link #replay}
   * @param batching see {@link #batching}
   * @param delivery see {@link #delivery}
   * @throws InputException if something is missing or not a valid string
   */
  public SubmitOptions {
    Checks.text("submission", submission);
    Checks.text("stream", stream);
    Checks.text("title", title);
    Checks.given("batching", batching);
    Checks.given("delivery", delivery);
  }

  /**
   * Detections for a submission with a name.
   *
   * @param submission last part of its name
   * @return the options
   */
  public static SubmitOptions named(String submission) {
    return DEFAULT.withSubmission(submission);
  }

  /**
   * These options for another submission.
   *
   * @param value last part of its name
   * @return the options
   */
  public SubmitOptions withSubmission(String value) {
    return new SubmitOptions(value, stream, title, replay, batching, delivery);
  }

  /**
   * These options for another stream.
   *
   * @param value name of the stream
   * @return the options
   */
  public SubmitOptions withStream(String value) {
    return new SubmitOptions(submission, value, title, replay, batching, delivery);
  }

  /**
   * These options with another title.
   *
   * @param value title for people
   * @return the options
   */
  public SubmitOptions withTitle(String value) {
    return new SubmitOptions(submission, stream, value, replay, batching, delivery);
  }

  /**
   * These options with or without replay.
   *
   * @param value whether frames that are durable already are left out
   * @return the options
   */
  public SubmitOptions withReplay(boolean value) {
    return new SubmitOptions(submission, stream, title, value, batching, delivery);
  }

  /**
   * These options with another batching.
   *
   * @param value how frames are batched
   * @return the options
   */
  public SubmitOptions withBatching(Batching value) {
    return new SubmitOptions(submission, stream, title, replay, value, delivery);
  }

  /**
   * These options with another delivery.
   *
   * @param value how frames are kept until they are acknowledged
   * @return the options
   */
  public SubmitOptions withDelivery(Delivery value) {
    return new SubmitOptions(submission, stream, title, replay, batching, value);
  }
}

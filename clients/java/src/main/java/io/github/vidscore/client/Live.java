package io.github.vidscore.client;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * When live reports are sent, and who gets them. A report is sent when either interval has passed.
 * It goes to {@code onReport} and is kept, with the last {@code keepReports} ones, for {@link
 * ScoreStream#nextLiveReport}.
 *
 * @param everyFrames frames that both sides have sent since the last report; 0 for not by frames
 * @param every time since the last report; null for not by time
 * @param onReport called with each report; null for nobody; an exception ends the stream
 * @param summaryOnly whether to leave out the rows of single sequences and the curves
 * @param keepReports maximum reports that wait for a reader; older ones are dropped
 */
public record Live(
    long everyFrames,
    Duration every,
    Consumer<LiveReport> onReport,
    boolean summaryOnly,
    int keepReports) {

  /**
   * Checks the settings.
   *
   * @param everyFrames see {@link #everyFrames}
   * @param every see {@link #every}
   * @param onReport see {@link #onReport}
   * @param summaryOnly see {@link #summaryOnly}
   * @param keepReports see {@link #keepReports}
   * @throws InputException for settings without any reports
   */
  public Live {
    Checks.atLeast("everyFrames", everyFrames, 0);
    Checks.atLeastOrNull("every", every, Duration.ZERO);
    Checks.atLeast("keepReports", keepReports, 1);
    if (everyFrames == 0 && every == null) {
      throw Failure.input("live", "no interval", "everyFrames or every");
    }
  }

  /**
   * A report whenever both sides have sent this many more frames.
   *
   * @param frames the frames
   * @return the settings
   */
  public static Live everyFrames(long frames) {
    return new Live(frames, null, null, false, 16);
  }

  /**
   * A report whenever this time has passed.
   *
   * @param interval the time
   * @return the settings
   */
  public static Live every(Duration interval) {
    return new Live(0, interval, null, false, 16);
  }

  /**
   * These settings with a listener.
   *
   * @param listener called with each report
   * @return the settings
   */
  public Live withOnReport(Consumer<LiveReport> listener) {
    return new Live(everyFrames, every, listener, summaryOnly, keepReports);
  }

  /**
   * These settings with or without the rows of single sequences and the curves.
   *
   * @param summary whether to leave them out
   * @return the settings
   */
  public Live withSummaryOnly(boolean summary) {
    return new Live(everyFrames, every, onReport, summary, keepReports);
  }

  /**
   * These settings with another number of reports that wait.
   *
   * @param reports the number
   * @return the settings
   */
  public Live withKeepReports(int reports) {
    return new Live(everyFrames, every, onReport, summaryOnly, reports);
  }
}

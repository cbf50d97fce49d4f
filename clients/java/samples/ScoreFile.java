import io.github.vidscore.client.Report;
import io.github.vidscore.client.ScoreOptions;
import io.github.vidscore.client.VidscoreClient;
import io.github.vidscore.client.VidscoreException;
import java.io.IOException;
import java.nio.file.Path;

/** Scores a file of detections against a file of truth; the server keeps nothing. */
public final class ScoreFile {
  private ScoreFile() {}

  public static void main(String[] arguments) {
    if (arguments.length != 4) {
      System.err.println("usage: ScoreFile ADDRESS EVALUATOR TRUTH.csv DETECTIONS.csv");
      System.exit(2);
    }
    try (VidscoreClient client = VidscoreClient.connect(arguments[0])) {
      GenericCsv truth = GenericCsv.read(Path.of(arguments[2]));
      GenericCsv detections = GenericCsv.read(Path.of(arguments[3]));
      ScoreOptions options =
          ScoreOptions.of(arguments[1]).geometries(truth.geometry(), detections.geometry()).build();
      client.score(truth.frames(), detections.frames(), options).forEach(ScoreFile::show);
    } catch (IOException | IllegalArgumentException | VidscoreException failure) {
      System.err.println(failure.getMessage());
      System.exit(1);
    }
  }

  private static void show(Report report) {
    System.out.println(report.evaluator() + " " + report.version());
    String line = "%-12s %-12s %-12s %-30s %s%n";
    System.out.printf(line, "domain", "class", "sequence", "measure", "score");
    report
        .scores()
        .forEach(
            row ->
                System.out.printf(
                    line,
                    all(row.domain()),
                    all(row.label()),
                    all(row.sequence()),
                    row.measure(),
                    row.value()));
  }

  /** Shows a dimension; an absent one stands for all. */
  private static String all(String name) {
    return name == null ? "*" : name;
  }
}

import io.github.vidscore.client.Frame;
import io.github.vidscore.client.Geometry;
import io.github.vidscore.client.ObjectFlag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file in the generic CSV format: named columns, a row for each object. */
record GenericCsv(Geometry geometry, List<Frame> frames) {
  private static final Map<Geometry, List<String>> SHAPES = new LinkedHashMap<>();
  private static final Set<String> WORDS =
      Set.of("domain", "sequence", "frame", "class", "confidence", "track_id", "flags", "time_s");
  private static final Map<String, Integer> FLAGS =
      Map.of(
          "ignore", ObjectFlag.IGNORE,
          "crowd", ObjectFlag.CROWD,
          "region", ObjectFlag.REGION,
          "distractor", ObjectFlag.DISTRACTOR);

  /** A field in quotes may hold commas and doubled quotes (RFC 4180). */
  private static final Pattern FIELD = Pattern.compile("(?:\"((?:[^\"]|\"\")*)\"|([^\",]*))(,|$)");

  static {
    SHAPES.put(Geometry.QUADRILATERAL, List.of("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"));
    SHAPES.put(Geometry.BOX, List.of("x1", "y1", "x2", "y2"));
    SHAPES.put(Geometry.POINT, List.of("x", "y"));
  }

  /** Reads frames in the order of their first rows, and the shape of their objects. */
  static GenericCsv read(Path path) throws IOException {
    List<String> lines = Files.readAllLines(path);
    List<String> header = lines.isEmpty() ? List.of() : fields(lines.get(0));
    Geometry geometry =
        SHAPES.keySet().stream()
            .filter(shape -> header.containsAll(SHAPES.get(shape)))
            .findFirst()
            .orElseThrow(
                () -> new IllegalArgumentException(path + ": no coordinates among " + header));
    Map<List<String>, List<Map<String, String>>> frames = new LinkedHashMap<>();
    for (int index = 1; index < lines.size(); index++) {
      if (!lines.get(index).isEmpty()) {
        Map<String, String> row = row(header, fields(lines.get(index)));
        List<String> key =
            List.of(row.getOrDefault("domain", ""), row.get("sequence"), row.get("frame"));
        frames.computeIfAbsent(key, unknown -> new ArrayList<>()).add(row);
      }
    }
    List<String> more = new ArrayList<>(header);
    more.removeAll(WORDS);
    more.removeAll(SHAPES.get(geometry));
    return new GenericCsv(
        geometry,
        frames.values().stream().map(rows -> frame(rows, SHAPES.get(geometry), more)).toList());
  }

  private static Frame frame(
      List<Map<String, String>> rows, List<String> coordinates, List<String> more) {
    Map<String, String> first = rows.get(0);
    List<Map<String, String>> objects =
        rows.stream().filter(row -> !row.get(coordinates.get(0)).isEmpty()).toList();
    Frame.Builder frame =
        Frame.of(first.get("sequence"), Long.parseLong(first.get("frame")))
            .domain(first.getOrDefault("domain", ""))
            .coordinates(
                objects.stream()
                    .flatMap(row -> coordinates.stream().map(row::get))
                    .mapToDouble(Double::parseDouble)
                    .toArray())
            .labels(
                objects.stream().map(row -> row.getOrDefault("class", "")).toArray(String[]::new))
            .confidences(numbers(objects, "confidence", "1"))
            .trackIds(
                objects.stream()
                    .mapToLong(row -> Long.parseLong(cell(row, "track_id", "-1")))
                    .toArray())
            .flags(objects.stream().mapToInt(GenericCsv::flags).toArray());
    more.forEach(name -> frame.column(name, numbers(objects, name, "")));
    rows.stream()
        .map(row -> cell(row, "time_s", ""))
        .filter(text -> !text.isEmpty())
        .findFirst()
        .ifPresent(text -> frame.timeS(Double.parseDouble(text)));
    if (rows.stream().anyMatch(row -> words(row).contains("dont_care_frame"))) {
      frame.dontCare();
    }
    return frame.build();
  }

  private static double[] numbers(
      List<Map<String, String>> objects, String name, String otherwise) {
    return objects.stream()
        .mapToDouble(row -> Double.parseDouble(cell(row, name, otherwise)))
        .toArray();
  }

  private static int flags(Map<String, String> row) {
    return words(row).stream().mapToInt(word -> FLAGS.getOrDefault(word, 0)).sum();
  }

  private static List<String> words(Map<String, String> row) {
    return Arrays.asList(cell(row, "flags", "").split("\\|"));
  }

  private static String cell(Map<String, String> row, String name, String otherwise) {
    String text = row.getOrDefault(name, "");
    return text.isEmpty() ? otherwise : text;
  }

  private static Map<String, String> row(List<String> header, List<String> fields) {
    Map<String, String> row = new HashMap<>();
    for (int index = 0; index < header.size(); index++) {
      row.put(header.get(index), index < fields.size() ? fields.get(index) : "");
    }
    return row;
  }

  private static List<String> fields(String line) {
    List<String> fields = new ArrayList<>();
    Matcher matcher = FIELD.matcher(line);
    while (matcher.find()) {
      String quoted = matcher.group(1);
      fields.add(quoted == null ? matcher.group(2).trim() : quoted.replace("\"\"", "\""));
      if (matcher.group(3).isEmpty()) {
        break;
      }
    }
    return fields;
  }
}

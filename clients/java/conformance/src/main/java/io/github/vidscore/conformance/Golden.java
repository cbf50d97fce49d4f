package io.github.vidscore.conformance;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.util.JsonFormat;
import io.github.vidscore.client.Evaluator;
import io.github.vidscore.client.Frame;
import io.github.vidscore.client.Geometry;
import io.github.vidscore.client.Mask;
import io.github.vidscore.client.ScoreOptions;
import io.github.vidscore.v1.BenchmarkSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A file of frames. */
final class Golden {
  private final JsonObject document;

  Golden(Path path) throws IOException {
    document = JsonParser.parseString(Files.readString(path)).getAsJsonObject();
  }

  ScoreOptions.Builder options() throws IOException {
    JsonObject configuration = document.getAsJsonObject("configuration");
    List<Evaluator> evaluators = new ArrayList<>();
    if (configuration.has("evaluators")) {
      for (JsonElement entry : configuration.getAsJsonArray("evaluators")) {
        evaluators.add(evaluator(entry.getAsJsonObject()));
      }
    }
    BenchmarkSpec.Builder specification = BenchmarkSpec.newBuilder();
    if (configuration.has("specification")) {
      JsonFormat.parser().merge(configuration.get("specification").toString(), specification);
    }
    return ScoreOptions.of(evaluators.toArray(Evaluator[]::new))
        .specification(specification.build())
        .geometries(
            geometry(configuration, "truth_geometry"),
            geometry(configuration, "detection_geometry"));
  }

  List<Frame> frames(String side) {
    List<Frame> frames = new ArrayList<>();
    if (document.has(side)) {
      document.getAsJsonArray(side).forEach(entry -> frames.add(frame(entry.getAsJsonObject())));
    }
    return frames;
  }

  private static Evaluator evaluator(JsonObject entry) {
    Map<String, Object> parameters = new LinkedHashMap<>();
    if (entry.has("parameters")) {
      for (Map.Entry<String, JsonElement> parameter :
          entry.getAsJsonObject("parameters").entrySet()) {
        parameters.put(parameter.getKey(), value(parameter.getValue()));
      }
    }
    return new Evaluator(entry.get("name").getAsString(), parameters);
  }

  private static Object value(JsonElement element) {
    if (element.isJsonArray()) {
      List<Object> values = new ArrayList<>();
      element.getAsJsonArray().forEach(entry -> values.add(value(entry)));
      return values;
    }
    JsonPrimitive primitive = element.getAsJsonPrimitive();
    if (primitive.isBoolean()) {
      return primitive.getAsBoolean();
    }
    if (primitive.isString()) {
      return primitive.getAsString();
    }
    // Integers and other numbers differ in their text.
    String text = primitive.getAsString();
    if (text.matches("-?\\d+")) {
      return Long.valueOf(text);
    }
    return Double.valueOf(text);
  }

  private static Geometry geometry(JsonObject configuration, String name) {
    String word = configuration.has(name) ? configuration.get(name).getAsString() : "box";
    return Geometry.valueOf(word.toUpperCase());
  }

  private static Frame frame(JsonObject entry) {
    Frame.Builder frame =
        Frame.of(entry.get("sequence").getAsString(), entry.get("frame").getAsLong())
            .domain(entry.has("domain") ? entry.get("domain").getAsString() : "");
    if (entry.has("dont_care") && entry.get("dont_care").getAsBoolean()) {
      frame.dontCare();
    }
    if (entry.has("time_s")) {
      frame.timeS(entry.get("time_s").getAsDouble());
    }
    List<JsonObject> objects = new ArrayList<>();
    if (entry.has("objects")) {
      entry.getAsJsonArray("objects").forEach(object -> objects.add(object.getAsJsonObject()));
    }
    if (objects.stream().anyMatch(object -> object.has("mask"))) {
      frame.masks(objects.stream().map(Golden::mask).toArray(Mask[]::new));
    }
    return frame
        .coordinates(objects.stream().flatMapToDouble(Golden::coordinates).toArray())
        .labels(column(objects, "label", "", JsonElement::getAsString).toArray(String[]::new))
        .confidences(
            column(objects, "confidence", 1.0, JsonElement::getAsDouble).stream()
                .mapToDouble(Double::doubleValue)
                .toArray())
        .trackIds(
            column(objects, "track_id", -1L, JsonElement::getAsLong).stream()
                .mapToLong(Long::longValue)
                .toArray())
        .flags(
            column(objects, "flags", 0, JsonElement::getAsInt).stream()
                .mapToInt(Integer::intValue)
                .toArray())
        .build();
  }

  private static Mask mask(JsonObject object) {
    JsonObject mask = object.getAsJsonObject("mask");
    int height = mask.getAsJsonArray("size").get(0).getAsInt();
    int width = mask.getAsJsonArray("size").get(1).getAsInt();
    if (mask.has("text")) {
      return Mask.ofText(height, width, mask.get("text").getAsString());
    }
    List<JsonElement> runs = mask.getAsJsonArray("runs").asList();
    return Mask.of(height, width, runs.stream().mapToInt(JsonElement::getAsInt).toArray());
  }

  private static java.util.stream.DoubleStream coordinates(JsonObject object) {
    return object.getAsJsonArray("coordinates").asList().stream()
        .mapToDouble(JsonElement::getAsDouble);
  }

  private static <T> List<T> column(
      List<JsonObject> objects, String name, T otherwise, Function<JsonElement, T> read) {
    return objects.stream()
        .map(object -> object.has(name) ? read.apply(object.get(name)) : otherwise)
        .toList();
  }
}

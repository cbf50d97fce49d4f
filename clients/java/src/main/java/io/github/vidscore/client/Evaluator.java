package io.github.vidscore.client;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Chooses an evaluator.
 *
 * @param name its name
 * @param parameters parameters that differ from its defaults, in their order: a Boolean, Integer,
 *     Long, Double, String, or a list of Double or String
 */
public record Evaluator(String name, Map<String, ?> parameters) {

  /**
   * Keeps the parameters as they are now.
   *
   * @param name see {@link #name}
   * @param parameters see {@link #parameters}
   */
  public Evaluator {
    Checks.text("name", name);
    parameters =
        Collections.unmodifiableMap(new LinkedHashMap<>(Checks.given("parameters", parameters)));
  }

  /**
   * An evaluator with its defaults.
   *
   * @param name its name
   */
  public Evaluator(String name) {
    this(name, Map.of());
  }
}

package io.github.vidscore.client;

import io.github.vidscore.v1.BenchmarkSpec;
import java.time.Duration;
import java.util.List;

/** What to score, and how; immutable. */
public final class ScoreOptions {
  private final Builder values;

  private ScoreOptions(Builder values) {
    this.values = values;
  }

  /**
   * Chooses evaluators by name, with their defaults.
   *
   * @param names the names
   * @return the builder
   */
  public static Builder of(String... names) {
    return new Builder(List.of(names).stream().map(Evaluator::new).toList());
  }

  /**
   * Chooses evaluators.
   *
   * @param evaluators the evaluators
   * @return the builder
   */
  public static Builder of(Evaluator... evaluators) {
    return new Builder(List.of(evaluators));
  }

  /**
   * Lets the evaluators of a specification judge.
   *
   * @param specification the specification
   * @return the builder
   */
  public static Builder by(BenchmarkSpec specification) {
    return new Builder(List.of()).specification(specification);
  }

  List<Evaluator> evaluators() {
    return values.evaluators;
  }

  BenchmarkSpec specification() {
    return values.specification;
  }

  Geometry truthGeometry() {
    return values.truthGeometry;
  }

  Geometry detectionGeometry() {
    return values.detectionGeometry;
  }

  Live live() {
    return values.live;
  }

  Batching batching() {
    return values.batching;
  }

  Duration timeout() {
    return values.timeout;
  }

  ScoreOptions withBatching(Batching batching) {
    return new Builder(values).batching(batching).build();
  }

  /** Collects the options. */
  public static final class Builder {
    private final List<Evaluator> evaluators;
    private BenchmarkSpec specification = BenchmarkSpec.getDefaultInstance();
    private Geometry truthGeometry = Geometry.BOX;
    private Geometry detectionGeometry = Geometry.BOX;
    private Live live;
    private Batching batching = Batching.DEFAULT;
    private Duration timeout;

    private Builder(List<Evaluator> evaluators) {
      this.evaluators = evaluators;
    }

    private Builder(Builder other) {
      evaluators = other.evaluators;
      specification = other.specification;
      truthGeometry = other.truthGeometry;
      detectionGeometry = other.detectionGeometry;
      live = other.live;
      batching = other.batching;
      timeout = other.timeout;
    }

    /**
     * Sets the facts that the data cannot give; chosen evaluators replace its own.
     *
     * @param message the specification
     * @return this
     */
    public Builder specification(BenchmarkSpec message) {
      specification = Checks.given("specification", message);
      return this;
    }

    /**
     * Sets the shape of the truth's objects and of the detections; boxes by default.
     *
     * @param truth shape of the truth's objects
     * @param detections shape of the detections
     * @return this
     */
    public Builder geometries(Geometry truth, Geometry detections) {
      truthGeometry = Checks.given("truth", truth);
      detectionGeometry = Checks.given("detections", detections);
      return this;
    }

    /**
     * Sets when live reports are sent; without it, never.
     *
     * @param settings the settings; null for never
     * @return this
     */
    public Builder live(Live settings) {
      live = settings;
      return this;
    }

    /**
     * Sets how frames are batched, and what happens if the server is slow.
     *
     * @param settings the settings
     * @return this
     */
    public Builder batching(Batching settings) {
      batching = Checks.given("batching", settings);
      return this;
    }

    /**
     * Sets the timeout of the whole stream; without it there is no limit.
     *
     * @param limit the time; null for no limit
     * @return this
     */
    public Builder timeout(Duration limit) {
      Checks.atLeastOrNull("timeout", limit, Duration.ofNanos(1));
      timeout = limit;
      return this;
    }

    /**
     * Makes the options.
     *
     * @return the options
     */
    public ScoreOptions build() {
      return new ScoreOptions(new Builder(this));
    }
  }
}

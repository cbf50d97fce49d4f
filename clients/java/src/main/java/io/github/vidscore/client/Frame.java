package io.github.vidscore.client;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * One whole frame of one side with N objects; it never changes. A column that is not given has its
 * default for every object.
 */
public final class Frame {
  final String domain;
  final String sequence;
  final long number;
  final boolean dontCare;
  final double timeS;
  final double[] coordinates;
  final List<String> labels;
  final double[] confidences;
  final long[] trackIds;
  final int[] flags;
  final List<Mask> masks;
  final Map<String, double[]> columns;

  private Frame(Builder builder) {
    domain = Checks.text("domain", builder.domain);
    sequence = Checks.text("sequence", builder.sequence);
    number = builder.number;
    dontCare = builder.dontCare;
    timeS = builder.timeS;
    coordinates = builder.coordinates;
    labels = builder.labels;
    confidences = builder.confidences;
    trackIds = builder.trackIds;
    flags = builder.flags;
    masks = builder.masks;
    columns = new TreeMap<>(builder.columns);
  }

  /**
   * Begins a frame, without objects so far.
   *
   * @param sequence name of the video
   * @param number number of the frame, 0 or more; each is sent once per side, in any order
   * @return the builder
   */
  public static Builder of(String sequence, long number) {
    return new Builder(sequence, number);
  }

  int objects(int arity) {
    return coordinates.length / arity;
  }

  /** Checks the columns against the shape of objects. */
  Frame checked(int arity) {
    if (coordinates.length % arity != 0) {
      String found = Checks.counted(coordinates.length, "number");
      throw Failure.input("coordinates", found, "a multiple of " + arity);
    }
    int objects = objects(arity);
    if (labels != null) {
      Checks.length("labels", labels.size(), objects);
      labels.forEach(label -> Checks.text("labels", label));
    }
    if (confidences != null) {
      Checks.length("confidences", confidences.length, objects);
    }
    if (trackIds != null) {
      Checks.length("trackIds", trackIds.length, objects);
    }
    if (flags != null) {
      Checks.length("flags", flags.length, objects);
    }
    if (masks != null) {
      Checks.length("masks", masks.size(), objects);
    }
    columns.forEach(
        (name, values) ->
            Checks.length("column " + Checks.text("columns", name), values.length, objects));
    return this;
  }

  /** Whether this frame can be in one message with another one: with the same columns, or masks. */
  boolean joins(Frame other) {
    return coordinates.length == 0
        || other.coordinates.length == 0
        || columns.keySet().equals(other.columns.keySet())
            && (masks == null) == (other.masks == null);
  }

  /** Collects the parts of a frame; arrays are copied. */
  public static final class Builder {
    private final String sequence;
    private final long number;
    private String domain = "";
    private boolean dontCare;
    private double timeS = Double.NaN;
    private double[] coordinates = {};
    private List<String> labels;
    private double[] confidences;
    private long[] trackIds;
    private int[] flags;
    private List<Mask> masks;
    private final Map<String, double[]> columns = new TreeMap<>();

    private Builder(String sequence, long number) {
      this.sequence = sequence;
      this.number = number;
    }

    /**
     * Sets the domain of the video, if there are several.
     *
     * @param name the domain
     * @return this
     */
    public Builder domain(String name) {
      domain = name;
      return this;
    }

    /**
     * Leaves the frame out of all counts; only for truth.
     *
     * @return this
     */
    public Builder dontCare() {
      dontCare = true;
      return this;
    }

    /**
     * Sets the capture time; without it the time is unknown.
     *
     * @param seconds seconds on any one clock
     * @return this
     */
    public Builder timeS(double seconds) {
      timeS = seconds;
      return this;
    }

    /**
     * Sets the coordinates in pixels: 2, 4 or 8 for each object, one object after the other.
     *
     * @param values the coordinates
     * @return this
     */
    public Builder coordinates(double... values) {
      coordinates = values.clone();
      return this;
    }

    /**
     * Sets the labels.
     *
     * @param names a label for each object
     * @return this
     */
    public Builder labels(String... names) {
      labels = Arrays.asList(names.clone());
      return this;
    }

    /**
     * Sets the confidences; without them all are 1.
     *
     * @param values a number from 0 to 1 for each object
     * @return this
     */
    public Builder confidences(double... values) {
      confidences = values.clone();
      return this;
    }

    /**
     * Sets the track ids; without them no object has one.
     *
     * @param values a track id for each object, -1 for none
     * @return this
     */
    public Builder trackIds(long... values) {
      trackIds = values.clone();
      return this;
    }

    /**
     * Sets the bits of {@link ObjectFlag}; without them all are 0.
     *
     * @param values bits for each object
     * @return this
     */
    public Builder flags(int... values) {
      flags = values.clone();
      return this;
    }

    /**
     * Sets the masks of objects that are boxes; without them there are none.
     *
     * @param values a mask for each object
     * @return this
     */
    public Builder masks(Mask... values) {
      masks = List.of(values);
      return this;
    }

    /**
     * Sets a further column, such as {@code area}.
     *
     * @param name name of the column
     * @param values a number for each object
     * @return this
     */
    public Builder column(String name, double... values) {
      columns.put(name, values.clone());
      return this;
    }

    /**
     * Makes the frame.
     *
     * @return the frame
     * @throws InputException if a name is not a valid string
     */
    public Frame build() {
      return new Frame(this);
    }
  }
}

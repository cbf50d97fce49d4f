package io.github.vidscore.client;

/** Shape of objects. */
public enum Geometry {
  /** x, y. */
  POINT(2),
  /** x1, y1, x2, y2: two opposite corners of an upright box. */
  BOX(4),
  /** x1, y1, ..., x4, y4: four corners in order. */
  QUADRILATERAL(8);

  private final int arity;

  Geometry(int arity) {
    this.arity = arity;
  }

  /**
   * Number of coordinates of an object.
   *
   * @return 2, 4 or 8
   */
  public int arity() {
    return arity;
  }

  io.github.vidscore.v1.Geometry wire() {
    return io.github.vidscore.v1.Geometry.valueOf("GEOMETRY_" + name());
  }

  /** The shape of a message; null if this client does not know it, and cannot send it. */
  static Geometry of(io.github.vidscore.v1.Geometry message) {
    for (Geometry geometry : values()) {
      if (geometry.wire() == message) {
        return geometry;
      }
    }
    return null;
  }
}

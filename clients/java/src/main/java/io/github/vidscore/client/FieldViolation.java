package io.github.vidscore.client;

/**
 * One fault of a request.
 *
 * @param field its place, as a path into the request
 * @param description what was found, and what was expected
 */
public record FieldViolation(String field, String description) {
  /** {@return both in one line} */
  @Override
  public String toString() {
    return field.isEmpty() ? description : field + ": " + description;
  }
}

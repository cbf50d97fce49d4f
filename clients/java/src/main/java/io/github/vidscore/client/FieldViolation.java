package io.github.vidscore.client;

/**
 * One thing that is wrong with a request.
 *
 * @param field where it is, as a path into the request
 * @param description what was found there and what was expected
 */
public record FieldViolation(String field, String description) {
  /** {@return both in one line} */
  @Override
  public String toString() {
    return field.isEmpty() ? description : field + ": " + description;
  }
}

package io.github.vidscore.client;

/** Full resource names from what people type: {@code streets}, {@code streets/run-7}. */
final class Names {
  private Names() {}

  static String benchmark(String benchmark) {
    return full("benchmark", benchmark, "benchmarks");
  }

  static String submission(String submission) {
    return full("submission", submission, "benchmarks", "submissions");
  }

  static String lastPart(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }

  private static String full(String argument, String name, String... collections) {
    String[] parts = Checks.text(argument, name).split("/", -1);
    boolean whole = parts.length == 2 * collections.length;
    StringBuilder full = new StringBuilder();
    StringBuilder shown = new StringBuilder();
    boolean right = whole || parts.length == collections.length;
    for (int index = 0; index < collections.length; index++) {
      String separator = index == 0 ? "" : "/";
      String collection = collections[index];
      shown
          .append(separator)
          .append('{')
          .append(collection, 0, collection.length() - 1)
          .append('}');
      if (right) {
        String part = parts[whole ? 2 * index + 1 : index];
        right = !part.isEmpty() && (!whole || parts[2 * index].equals(collection));
        full.append(separator).append(collection).append('/').append(part);
      }
    }
    if (!right) {
      throw Failure.input(argument, Checks.quoted(name), "a name like " + shown);
    }
    return full.toString();
  }
}

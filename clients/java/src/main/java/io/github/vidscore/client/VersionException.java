package io.github.vidscore.client;

/**
 * Server and client are of versions that do not work together; the metadata has both under {@code
 * client_version} and {@code server_version}.
 */
public final class VersionException extends ConflictException {
  private static final long serialVersionUID = 1L;

  VersionException(Failure failure) {
    super(failure);
  }
}

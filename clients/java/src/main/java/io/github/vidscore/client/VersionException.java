package io.github.vidscore.client;

/**
 * Client and server have incompatible versions; the metadata has both under {@code client_version}
 * and {@code server_version}.
 */
public final class VersionException extends ConflictException {
  private static final long serialVersionUID = 1L;

  VersionException(Failure failure) {
    super(failure);
  }
}

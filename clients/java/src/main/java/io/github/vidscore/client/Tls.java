package io.github.vidscore.client;

import java.nio.file.Path;

/**
 * An encrypted connection; all files are PEM.
 *
 * @param rootCertificates file of the authorities to trust; null for Java's own
 * @param certificate file of this client's certificate chain, if the server requires one; or null
 * @param privateKey file of the private key of the certificate; or null
 * @param serverName name in the server's certificate, if it differs from the address; or null
 */
public record Tls(Path rootCertificates, Path certificate, Path privateKey, String serverName) {
  /** Trusts the system's authorities. */
  public static final Tls SYSTEM = new Tls(null, null, null, null);

  /**
   * Checks the settings.
   *
   * @param rootCertificates see {@link #rootCertificates}
   * @param certificate see {@link #certificate}
   * @param privateKey see {@link #privateKey}
   * @param serverName see {@link #serverName}
   * @throws InputException for a client certificate without its key, or a key alone
   */
  public Tls {
    if ((certificate == null) != (privateKey == null)) {
      String missing = certificate == null ? "certificate" : "privateKey";
      throw Failure.input(missing, "none", "certificate and privateKey together, or neither");
    }
  }

  /**
   * Trusts the authorities of a file.
   *
   * @param rootCertificates the file
   * @return the settings
   */
  public static Tls trusting(Path rootCertificates) {
    return new Tls(rootCertificates, null, null, null);
  }
}

package io.github.vidscore.client;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Checks PEM files when a client is created: grpc refuses some only at the first call, and as if
 * the server were out of reach.
 */
final class Certificates {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ([A-Z ]+)-----([^-]+)-----END \\1-----");

  /** Key algorithms, each with its signature algorithm. */
  private static final Map<String, String> ALGORITHMS =
      Map.of("EC", "SHA256withECDSA", "RSA", "SHA256withRSA", "Ed25519", "Ed25519");

  private Certificates() {}

  static void check(Tls tls) {
    if (tls.rootCertificates() != null) {
      certificates("rootCertificates", tls.rootCertificates());
    }
    if (tls.certificate() != null) {
      Certificate own = certificates("certificate", tls.certificate()).get(0);
      checkKey(own, blocks("privateKey", tls.privateKey(), "PRIVATE KEY").get(0), tls);
    }
  }

  private static List<Certificate> certificates(String argument, Path file) {
    List<Certificate> found = new ArrayList<>();
    for (byte[] block : blocks(argument, file, "CERTIFICATE")) {
      try {
        CertificateFactory factory = CertificateFactory.getInstance("X.509");
        found.add(factory.generateCertificate(new ByteArrayInputStream(block)));
      } catch (GeneralSecurityException problem) {
        throw Failure.input(argument, file + ": " + problem.getMessage(), "certificates");
      }
    }
    return found;
  }

  private static void checkKey(Certificate certificate, byte[] key, Tls tls) {
    for (Map.Entry<String, String> algorithm : ALGORITHMS.entrySet()) {
      try {
        KeyFactory factory = KeyFactory.getInstance(algorithm.getKey());
        PrivateKey known = factory.generatePrivate(new PKCS8EncodedKeySpec(key));
        if (belong(certificate, known, algorithm.getValue())) {
          return;
        }
      } catch (InvalidKeySpecException | InvalidKeyException other) {
        // A key of another algorithm.
      } catch (GeneralSecurityException problem) {
        throw Failure.input("privateKey", problem.getMessage(), "a key that can be used");
      }
    }
    throw Failure.input(
        "privateKey", String.valueOf(tls.privateKey()), "the key of " + tls.certificate());
  }

  /** Whether the certificate verifies what the key signs. */
  private static boolean belong(Certificate certificate, PrivateKey key, String algorithm)
      throws GeneralSecurityException {
    byte[] text = certificate.getEncoded();
    Signature signing = Signature.getInstance(algorithm);
    signing.initSign(key);
    signing.update(text);
    byte[] signed = signing.sign();
    Signature verifying = Signature.getInstance(algorithm);
    verifying.initVerify(certificate.getPublicKey());
    verifying.update(text);
    return verifying.verify(signed);
  }

  /** The contents of the blocks with a name; at least one. */
  private static List<byte[]> blocks(String argument, Path file, String name) {
    List<byte[]> found = new ArrayList<>();
    try {
      Matcher matcher = BLOCK.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
      while (matcher.find()) {
        if (matcher.group(1).equals(name)) {
          found.add(Base64.getMimeDecoder().decode(matcher.group(2)));
        }
      }
    } catch (IOException problem) {
      throw Failure.input(argument, file + ": " + problem, "a PEM file");
    } catch (IllegalArgumentException noBase64) {
      throw Failure.input(argument, file + ": " + noBase64.getMessage(), "a PEM file");
    }
    if (found.isEmpty()) {
      throw Failure.input(argument, file + " without a " + name, "a PEM file");
    }
    return found;
  }
}

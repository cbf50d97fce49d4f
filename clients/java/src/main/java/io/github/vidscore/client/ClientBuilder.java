package io.github.vidscore.client;

import io.grpc.ChannelCredentials;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Takes the settings of a client; made by {@link VidscoreClient#builder}. */
public final class ClientBuilder {
  private static final String USER_AGENT = "vidscore-java/" + VidscoreClient.VERSION;

  /** A report of a million rows; grpc's own limit of 4 MiB is too small for many sequences. */
  private static final int MAXIMUM_RESPONSE_BYTES = 256 << 20;

  private static final Pattern TARGET =
      Pattern.compile("(?:[a-z][a-z0-9+.-]*://[^/\\s]*/)?(\\[[^\\]\\s]+\\]|[^\\s:/]+):(\\d{1,5})");

  private final String target;
  private final String host; // name or address of the machine; empty for a local socket
  private Tls tls;
  private String token;
  private boolean plaintextToken;
  private Duration timeout = Duration.ofSeconds(10);
  private Retry retry = Retry.DEFAULT;
  private Keepalive keepalive = Keepalive.DEFAULT;
  private Function<ChannelCredentials, ManagedChannelBuilder<?>> channels;

  ClientBuilder(String target) {
    this.target = target;
    this.host = hostOf(target);
    this.channels = credentials -> Grpc.newChannelBuilder(target, credentials);
  }

  /**
   * Encrypts the connection.
   *
   * @param settings certificates; {@link Tls#SYSTEM} trusts the system's authorities
   * @return this
   */
  public ClientBuilder tls(Tls settings) {
    tls = Checks.given("tls", settings);
    return this;
  }

  /**
   * Sends a token with each call, as {@code authorization: Bearer}. It is never sent unencrypted to
   * another machine, unless {@link #allowPlaintextToken} allows it.
   *
   * @param secret the token
   * @return this
   * @throws InputException if it cannot be a header
   */
  public ClientBuilder token(String secret) {
    // The text never shows the token, because errors end up in logs.
    if (secret == null || !secret.matches("[!-~]+")) {
      throw Failure.input("token", "something else", "printable ASCII without spaces or line breaks");
    }
    token = secret;
    return this;
  }

  /**
   * Allows the token to be sent unencrypted to another machine, on a network that nobody else can
   * read.
   *
   * @return this
   */
  public ClientBuilder allowPlaintextToken() {
    plaintextToken = true;
    return this;
  }

  /**
   * Sets the timeout of a unary call, and of opening a stream; 10 s by default.
   *
   * @param limit the time
   * @return this
   */
  public ClientBuilder timeout(Duration limit) {
    Checks.atLeast("timeout", limit, Duration.ofNanos(1));
    timeout = limit;
    return this;
  }

  /**
   * Sets what sealing, watching and awaiting do after a break of the connection. For streams, see
   * {@link Delivery}.
   *
   * @param settings the settings
   * @return this
   */
  public ClientBuilder retry(Retry settings) {
    retry = Checks.given("retry", settings);
    return this;
  }

  /**
   * Sets how silent connections are detected.
   *
   * @param settings the settings
   * @return this
   */
  public ClientBuilder keepalive(Keepalive settings) {
    keepalive = Checks.given("keepalive", settings);
    return this;
  }

  /** Makes channels with another factory. */
  ClientBuilder channels(Function<ChannelCredentials, ManagedChannelBuilder<?>> factory) {
    channels = factory;
    return this;
  }

  /**
   * Makes the client; the first call opens the connection. Connections to other machines use the
   * proxies that the system properties of Java name.
   *
   * @return the client
   * @throws InputException if a certificate cannot be read or is invalid, if the token would be
   *     sent unencrypted to another machine, or if the name of that machine is not a valid host
   *     name
   */
  public VidscoreClient build() {
    if (token != null && tls == null && !plaintextToken && !isLoopback()) {
      throw Failure.input(
          "token",
          "an unencrypted connection to " + host,
          "tls, or allowPlaintextToken on a network that nobody else can read");
    }
    ManagedChannelBuilder<?> channel =
        channels
            .apply(credentials())
            .userAgent(USER_AGENT)
            .keepAliveTime(Monitor.saturatedNs(keepalive.interval()), TimeUnit.NANOSECONDS)
            .keepAliveTimeout(Monitor.saturatedNs(keepalive.timeout()), TimeUnit.NANOSECONDS)
            .maxInboundMessageSize(MAXIMUM_RESPONSE_BYTES);
    if (isLoopback()) {
      channel.proxyDetector(address -> null); // a proxy is for the network, not for this machine
    }
    if (tls != null && tls.serverName() != null) {
      channel.overrideAuthority(tls.serverName());
    }
    channel.intercept(new Versions());
    if (token != null) {
      Metadata headers = new Metadata();
      headers.put(
          Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
      channel.intercept(MetadataUtils.newAttachHeadersInterceptor(headers));
    }
    try {
      return new VidscoreClient(channel.build(), timeout, retry);
    } catch (IllegalArgumentException noName) {
      throw Failure.input(
          "target",
          Checks.quoted(target),
          "a host name of letters, digits, hyphens and dots only");
    }
  }

  private boolean isLoopback() {
    return host.isEmpty()
        || host.equals("localhost")
        || host.matches("127(\\.\\d{1,3}){3}")
        || host.equals("::1");
  }

  private ChannelCredentials credentials() {
    if (tls == null) {
      return InsecureChannelCredentials.create();
    }
    Certificates.check(tls);
    TlsChannelCredentials.Builder credentials = TlsChannelCredentials.newBuilder();
    try {
      if (tls.rootCertificates() != null) {
        credentials.trustManager(tls.rootCertificates().toFile());
      }
      if (tls.certificate() != null) {
        credentials.keyManager(tls.certificate().toFile(), tls.privateKey().toFile());
      }
    } catch (IOException problem) {
      throw Failure.input("tls", problem, "PEM files that can be read");
    }
    return credentials.build();
  }

  private static String hostOf(String target) {
    if (target != null && target.matches("unix:\\S+")) {
      return "";
    }
    Matcher matcher = TARGET.matcher(target == null ? "" : target);
    if (!matcher.matches() || Integer.parseInt(matcher.group(2)) > 65535) {
      throw Failure.input(
          "target", Checks.quoted(target), "host:port, [address]:port or unix:path");
    }
    return matcher.group(1).replaceAll("^\\[|\\]$", "");
  }
}

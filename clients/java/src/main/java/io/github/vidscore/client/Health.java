package io.github.vidscore.client;

/** Whether a server accepts calls, by the standard health protocol. */
public enum Health {
  /** Unspecified. */
  UNKNOWN,
  /** It does. */
  SERVING,
  /** It does not. */
  NOT_SERVING,
  /** The server does not know the service. */
  SERVICE_UNKNOWN
}

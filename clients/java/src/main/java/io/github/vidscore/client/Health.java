package io.github.vidscore.client;

/** Whether a server takes calls, as the standard health protocol has it. */
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

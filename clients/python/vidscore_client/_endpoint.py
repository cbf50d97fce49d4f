"""The address of a server, the settings of its connection, and the compatible versions of servers.

Minor versions of server and client may differ by one. The server enforces the same rule for its
clients; this side checks it for older servers that do not.
"""

from __future__ import annotations

import ipaddress
import math
import os
import re
import ssl
from collections.abc import Iterable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import grpc

from vidscore_client._values import check_number, shown
from vidscore_client._version import __version__
from vidscore_client.errors import InputError, VersionError
from vidscore_client.settings import Keepalive, Tls

CLIENT_KEY = "vidscore-client-version"
"""Metadata of each call: version of this package."""

SERVER_KEY = "vidscore-server-version"
"""Trailing metadata of each call: version of the server."""

MINORS_APART = 1

_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})(?:[.+\-a-z0-9]*)", re.ASCII)


def check_server(server: str, client: str = __version__) -> None:
    """Refuse a server of an incompatible version.

    Args:
        server: The server's version; other strings are accepted, because proxies may send them.
        client: Version of this package.

    Raises:
        VersionError: If it is too far from the client's.
    """
    theirs, ours = _VERSION.fullmatch(server), _VERSION.fullmatch(client)
    if theirs is None or ours is None:
        return
    distance = int(theirs[2]) - int(ours[2])
    if theirs[1] == ours[1] and abs(distance) <= MINORS_APART:
        return
    newer = (int(theirs[1]), int(theirs[2])) > (int(ours[1]), int(ours[2]))
    advice = "update vidscore-client" if newer else "update the server, or use an older client"
    raise VersionError(
        f"the server has version {server} and the client {client}, which works with servers of "
        f"the same major version and at most {MINORS_APART} minor version away: {advice}",
        reason="VERSION_UNSUPPORTED",
        metadata={"client_version": client, "server_version": server},
    )


def check_metadata(trailing: Iterable[Any] | None) -> None:
    """Refuse a server by the trailing metadata of a call.

    Raises:
        VersionError: If its version is too far from the client's.
    """
    for key, value in trailing or ():
        if key == SERVER_KEY:
            check_server(str(value))


USER_AGENT = f"vidscore-python/{__version__}"
MAXIMUM_RESPONSE_BYTES = 256 << 20
"""Enough for a report of a million rows; grpc's 4 MiB is too small for many sequences."""

Options = tuple[tuple[str, str | int], ...]

_RECONNECTION: Options = (
    # Reconnect to a restarted server soon; gRPC would wait up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)


@dataclass(frozen=True)
class Endpoint:
    """A server's address with everything that each call to it needs.

    Attributes:
        target: Address as grpc takes it.
        timeout_s: Seconds that a unary call, or the opening of a stream, may take.
        credentials: Certificates; None for a connection that is not encrypted.
        metadata: Metadata of each call; hidden from `repr`, because it may hold the token.
        options: Settings of the channel.
    """

    target: str
    timeout_s: float
    credentials: grpc.ChannelCredentials | None = field(repr=False)
    metadata: tuple[tuple[str, str], ...] = field(repr=False)
    options: Options


def make_endpoint(
    target: str,
    *,
    tls: bool | Tls,
    token: str | None,
    timeout_s: float,
    allow_plaintext_token: bool,
    keepalive: Keepalive,
) -> Endpoint:
    """Check a user's settings of a server.

    Raises:
        InputError: If the address is invalid, a certificate cannot be read, the token cannot be a
            header, or it would be sent over the network unencrypted.
    """
    host = _host(target)
    check_number("timeout_s", timeout_s, lambda value: value > 0, "more than 0")
    if not isinstance(keepalive, Keepalive):
        raise InputError("keepalive", shown(keepalive), "Keepalive")
    if not isinstance(tls, bool | Tls):
        raise InputError("tls", shown(tls), "True, False or Tls")
    chosen = Tls() if tls is True else tls or None
    if token is not None:
        _check_token(token)
        if chosen is None and not allow_plaintext_token and not _is_loopback(host):
            raise InputError(
                "token",
                f"an unencrypted connection to {host}",
                "tls, or allow_plaintext_token=True on a network that nobody else can read",
            )
    return Endpoint(
        target=target,
        timeout_s=timeout_s,
        credentials=None if chosen is None else _credentials(chosen),
        metadata=_metadata(token),
        options=_options(host, chosen, keepalive),
    )


def _metadata(token: str | None) -> tuple[tuple[str, str], ...]:
    said = ((CLIENT_KEY, __version__),)
    return said if token is None else (*said, ("authorization", f"Bearer {token}"))


def _host(target: object) -> str:
    """Name or address of the machine; empty for a local socket."""
    expected = "host:port, [address]:port or unix:path"
    # What is not UTF-8 in an argument or a variable is a lone surrogate, which gRPC cannot send.
    if not isinstance(target, str) or not target.isprintable() or " " in target or not target:
        raise InputError("target", shown(target), expected)
    if target.startswith("unix:"):
        return ""
    # "dns:///host:port" and "dns://authority/host:port" are grpc's own way to name a resolver.
    host, colon, port = target.rpartition("/")[2].rpartition(":")
    is_port = port.isdecimal() and int(port) <= 65535
    is_bare = ":" in host and not (host.startswith("[") and host.endswith("]"))
    web = target.startswith(("http:", "https:"))
    if not colon or not host or not is_port or is_bare or web:
        raise InputError("target", shown(target), expected)
    return host.removeprefix("[").removesuffix("]")


def _is_loopback(host: str) -> bool:
    if host in {"", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_token(token: object) -> None:
    # The text never shows the token: errors end up in logs.
    if not isinstance(token, str) or not token or not all("!" <= sign <= "~" for sign in token):
        raise InputError("token", "something else", "printable ASCII without spaces or line breaks")


def _credentials(tls: Tls) -> grpc.ChannelCredentials:
    _check_certificates(tls)
    roots = tls.root_certificates or _system_roots()
    return grpc.ssl_channel_credentials(
        root_certificates=_read("root_certificates", roots),
        private_key=_read("private_key", tls.private_key),
        certificate_chain=_read("certificate", tls.certificate),
    )


def _system_roots() -> str | None:
    """The system's own authorities, because grpc would trust its bundled list.

    If the system has no file of authorities, as on Windows, grpc's list is used.
    """
    if "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH" in os.environ:
        return None
    return ssl.get_default_verify_paths().cafile


def _check_certificates(tls: Tls) -> None:
    """Refuse files that grpc would report at the first call, as if no server were reachable."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if _read("root_certificates", tls.root_certificates) is not None:
        try:
            context.load_verify_locations(cafile=tls.root_certificates)
        except ssl.SSLError as error:
            found = f"{tls.root_certificates} without a certificate"
            raise InputError("root_certificates", found, "a PEM file") from error
    if tls.certificate is not None:
        _read("certificate", tls.certificate)
        _read("private_key", tls.private_key)
        try:
            # Without a password OpenSSL would ask for one at the terminal.
            context.load_cert_chain(tls.certificate, tls.private_key, password="")
        except ssl.SSLError as error:
            found = f"{tls.certificate} and {tls.private_key}: {error.reason or error}"
            raise InputError(
                "certificate", found, "PEM files of a certificate and its key"
            ) from error


def _read(name: str, path: str | PathLike[str] | None) -> bytes | None:
    if path is None:
        return None
    try:
        if not isinstance(path, str | PathLike):
            raise InputError(name, shown(path), "the path of a PEM file")
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(name, f"{path}: {error.strerror}", "a PEM file") from error


def _options(host: str, tls: Tls | None, keepalive: Keepalive) -> Options:
    options: list[tuple[str, str | int]] = [
        ("grpc.primary_user_agent", USER_AGENT),
        ("grpc.max_receive_message_length", MAXIMUM_RESPONSE_BYTES),
        # gRPC's own retries lose the end of some calls whose server has just gone: reading then
        # lasts for ever, in spite of the deadline. Streams and waits of this package try again.
        ("grpc.enable_retries", 0),
        *_RECONNECTION,
        *_keepalive_options(keepalive),
    ]
    if _is_loopback(host):
        # A proxy that the environment names is for the network, not for this machine.
        options.append(("grpc.enable_http_proxy", 0))
    if tls is not None and tls.server_name is not None:
        options.append(("grpc.ssl_target_name_override", tls.server_name))
    return tuple(options)


def _keepalive_options(keepalive: Keepalive) -> Options:
    timeout_ms = math.ceil(keepalive.timeout_s * 1000)
    return (
        ("grpc.keepalive_time_ms", math.ceil(keepalive.interval_s * 1000)),
        ("grpc.keepalive_timeout_ms", timeout_ms),
        # Newer releases of grpc have a separate timeout for pings; its default is a minute.
        ("grpc.http2.ping_timeout_ms", timeout_ms),
        ("grpc.http2.max_pings_without_data", 0),
    )

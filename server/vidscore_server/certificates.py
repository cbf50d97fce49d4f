"""The files of TLS: the server's certificate and key, and the authorities of its clients.

Certificates are renewed every few weeks, so the files are read again while the server runs.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
import ssl
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, cast

import grpc

from vidscore_evaluators.errors import Fault
from vidscore_server.logs import log
from vidscore_server.runtime import utc_now
from vidscore_server.settings import Settings, SettingsError

LOOK_INTERVAL_S = 10.0
"""Time between two looks at the files."""

EXPIRY_WARNING = timedelta(days=14)
"""Time before the end of a certificate from which the log warns each day."""


class _Files(NamedTuple):
    """Contents of the files, as PEM; without authorities, clients need no certificate."""

    chain: bytes
    key: bytes
    authorities: bytes | None


class Certificates:
    """What the server presents and trusts in TLS: for new connections, what its files hold now.

    Files that cannot be used change nothing, and the log says so once. Open connections keep what
    they began with.

    Args:
        settings: The server's settings, which name a certificate.

    Attributes:
        context: For the site; equal to what the gRPC server uses.

    Raises:
        SettingsError: If a file cannot be read, or certificate and key do not belong together.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._files = _read_files(settings)
        self.context = self._newest = tls_context(settings)
        self.context.sni_callback = self._choose
        # The thread of a handshake takes it from here.
        self._for_grpc = deque([_configuration(self._files)], maxlen=1)
        self._refused = ""
        self._tell_end(logging.INFO)

    def grpc_credentials(self) -> grpc.ServerCredentials:
        """Credentials of the gRPC server."""
        return grpc.dynamic_ssl_server_credentials(
            self._for_grpc.pop(),
            cast("Callable[[], grpc.ServerCertificateConfiguration]", self._renewed),
            self._files.authorities is not None,
        )

    async def keep_looking(self) -> None:
        """Look at the files until cancelled."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            try:
                await asyncio.to_thread(self.look)
                reason = ""
            except Exception as error:  # noqa: BLE001 - whatever it is, it may end
                reason = str(error) or type(error).__name__
            if reason not in ("", self._refused):
                log(logging.WARNING, "certificate not renewed", reason=reason)
            self._refused = reason

    def look(self) -> None:
        """Use the files from now on, if they have changed; log, each day, an end that is near.

        Raises:
            SettingsError: If the files cannot be used; then nothing changes.
        """
        if self._told_on != utc_now().date():
            self._tell_end(logging.WARNING)
        files = _read_files(self._settings)
        if files == self._files:
            return
        context = tls_context(self._settings)
        if _read_files(self._settings) != files:
            return  # they are being written
        self._files, self._newest = files, context
        self._for_grpc.append(_configuration(files))
        self._tell_end(logging.INFO)

    def _renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """What gRPC's next handshake begins to use; None for no change."""
        try:
            return self._for_grpc.pop()
        except IndexError:
            return None

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _: ssl.SSLContext) -> None:
        """Let a connection to the site use the newest files; called in each handshake."""
        connection.context = self._newest

    def _tell_end(self, lowest: int) -> None:
        """Log when the certificate ends, if that is at least of this level."""
        now = utc_now()
        end = _end_of(self._files.chain)
        level = logging.INFO
        if end - now < EXPIRY_WARNING:
            level = logging.WARNING if end > now else logging.ERROR
        if level >= lowest:
            log(level, "certificate", ends=end.isoformat())
        self._told_on = now.date()


def open_certificates(settings: Settings) -> Certificates | None:
    """The certificates that settings name; None without TLS. Raises as `Certificates` does."""
    return Certificates(settings) if settings.tls_certificate_file else None


def _configuration(files: _Files) -> grpc.ServerCertificateConfiguration:
    pairs = [(files.key, files.chain)]
    return grpc.ssl_server_certificate_configuration(pairs, files.authorities)


def _read_files(settings: Settings) -> _Files:
    authorities = settings.tls_client_authorities_file
    return _Files(
        _read_pem(settings.tls_certificate_file, "tls_certificate_file"),
        _read_pem(settings.tls_key_file, "tls_key_file"),
        _read_pem(authorities, "tls_client_authorities_file") if authorities else None,
    )


def _read_pem(path: str, setting: str) -> bytes:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        found = f"{path}: {error.strerror}"
        raise SettingsError([Fault(found, "a PEM file", field=setting)]) from None
    if b"-----BEGIN " not in data:
        raise SettingsError([Fault(f"{path}, without PEM data", "a PEM file", field=setting)])
    return data


def tls_context(settings: Settings) -> ssl.SSLContext:
    """The TLS context of the files that settings name.

    Raises:
        SettingsError: If a file cannot be read, or certificate and key do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    files = settings.tls_certificate_file, settings.tls_key_file
    try:
        context.load_cert_chain(*files, password="")  # clients are asked for no certificate
    except OSError as error:  # SSLError is an OSError
        mismatch = getattr(error, "reason", None) == "KEY_VALUES_MISMATCH"
        found = f"{' and '.join(files)}{', the key of another one' if mismatch else ''}"
        expected = "a certificate and its key without a password, each in a PEM file"
        raise SettingsError([Fault(found, expected, field="tls_certificate_file")]) from None
    if settings.tls_client_authorities_file:
        try:
            context.load_verify_locations(settings.tls_client_authorities_file)
        except OSError:
            found, field = settings.tls_client_authorities_file, "tls_client_authorities_file"
            expected = "certificates of authorities in a PEM file"
            raise SettingsError([Fault(found, expected, field=field)]) from None
        context.verify_mode = ssl.CERT_REQUIRED
    return context


# --- When a certificate ends: RFC 5280, section 4.1

_CERTIFICATE = re.compile(rb"-----BEGIN [A-Z0-9 ]*CERTIFICATE-----(.*?)-----END ", re.DOTALL)

_VERSION, _UTC_TIME = 0xA0, 0x17
"""Tags of DER."""


def _end_of(chain: bytes) -> datetime:
    """When the first certificate of a chain ends, which OpenSSL has read before."""
    block, *_ = _CERTIFICATE.findall(chain)
    [(_, certificate), *_] = _elements(base64.b64decode(block))
    [(_, content), *_] = _elements(certificate)
    fields = [field for field in _elements(content) if field[0] != _VERSION]
    _serial, _algorithm, _issuer, (_, validity), *_ = fields
    _, (tag, end) = _elements(validity)
    form = "%y%m%d%H%M%SZ" if tag == _UTC_TIME else "%Y%m%d%H%M%SZ"
    return datetime.strptime(end.decode("ascii"), form).replace(tzinfo=UTC)


def _elements(der: bytes) -> list[tuple[int, bytes]]:
    """Tags and contents of the elements in a DER encoding."""
    elements, at = [], 0
    while at < len(der):
        tag, size = der[at], der[at + 1]
        at += 2
        if size > 0x7F:  # the number of bytes of the size, which follows
            width = size & 0x7F
            size = int.from_bytes(der[at : at + width], "big")
            at += width
        elements.append((tag, der[at : at + size]))
        at += size
    return elements

"""The server's side of TLS: who it is, and whose certificates its clients must have."""

from __future__ import annotations

from pathlib import Path

import grpc

from vidscore_evaluators.errors import Fault
from vidscore_server.settings import Settings, SettingsError


def server_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """What the server shows to its clients and wants to see of them; None without TLS.

    Raises:
        SettingsError: If a file cannot be read.
    """
    if not settings.tls_certificate_file:
        return None
    chain = _read_pem(settings.tls_certificate_file, "tls_certificate_file")
    key = _read_pem(settings.tls_key_file, "tls_key_file")
    authorities = None
    if settings.tls_client_authorities_file:
        authorities = _read_pem(settings.tls_client_authorities_file, "tls_client_authorities_file")
    return grpc.ssl_server_credentials(
        [(key, chain)],
        root_certificates=authorities,
        require_client_auth=authorities is not None,
    )


def _read_pem(path: str, setting: str) -> bytes:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        found = f"{path}: {error.strerror}"
        raise SettingsError([Fault(found, "a PEM file", field=setting)]) from None
    if b"-----BEGIN " not in data:
        raise SettingsError([Fault(f"{path}, which is none", "a PEM file", field=setting)])
    return data

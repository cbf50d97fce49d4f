"""The files of TLS: the server's certificate and key, and the authorities of its clients."""

from __future__ import annotations

import ssl
from pathlib import Path

import grpc

from vidscore_evaluators.errors import Fault
from vidscore_server.settings import Settings, SettingsError


def grpc_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    """TLS credentials: the server's own, and the authorities of its clients; None without TLS.

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
        raise SettingsError([Fault(f"{path}, without PEM data", "a PEM file", field=setting)])
    return data


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """The TLS context equal to the gRPC server's; None without TLS.

    Raises:
        SettingsError: If a file cannot be read, or certificate and key do not belong together.
    """
    if not settings.tls_certificate_file:
        return None
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

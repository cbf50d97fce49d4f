"""`vidscore doctor`: find out why a server cannot be used."""

from __future__ import annotations

import socket
import ssl
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import Entry, command
from vidscore_cli.diagnosis import (
    GIBIBYTE,
    Passed,
    Status,
    Step,
    StepFailedError,
    diagnose,
    disk_step,
    write_findings,
)
from vidscore_cli.options import NumberRange, format_option, server_options
from vidscore_cli.remote import (
    GRPC_FOUND_HTTP,
    SPEAKS_HTTP,
    connect_to,
    in_typed_words,
    no_answer_advice,
)
from vidscore_cli.session import ExitCode
from vidscore_cli.sites import ServerChoice

if TYPE_CHECKING:
    import vidscore_client as sdk

EXPIRY_WARNING = timedelta(days=14)

RENEW = "renew the certificate; the server uses new files by itself, and its log says so"

CLOCK_WARNING = timedelta(seconds=5)

CLOCK_FAILURE = timedelta(minutes=5)
"""Beyond this, lifetimes of tokens and the opening times of benchmarks mean little."""

NOT_TOLD = Passed("needs a valid token", Status.SKIPPED)

NOT_TOLD_TO_ALL = Passed("only for organisers of hosted benchmarks", Status.SKIPPED)

STORE_DOCTOR = Entry("vidscore_server.commands.doctor:examine_store", extra="server")


@command(
    "doctor",
    examples=(
        "vidscore doctor",
        "vidscore doctor --server scores.example.org:443 --tls --format json",
        "vidscore doctor --store site.db",
    ),
)
@server_options()
@click.option(
    "--store",
    metavar="FILE",
    help="Check this store's file instead of a server; the file is not changed.",
)
@click.option(
    "--timeout",
    "timeout_s",
    metavar="SECONDS",
    type=NumberRange(min=0.01, max=3600.0),
    default=10.0,
    show_default=True,
    help="Timeout of each step.",
)
@format_option("text", "json")
def doctor(server: ServerChoice, store: str | None, timeout_s: float, format_: str) -> int:
    """Find out why a server cannot be used, step by step.

    It checks the address, the connection, the certificate, the server, its version and clock, the
    token and, for organisers, the store and its disk, and says what to do about each fault.

    The exit code is 0 if no step failed; otherwise that of the first failed step: 2 for the form of
    the address and the files that are named, 3 for the connection to the server, 4 for the token, 1
    for the rest.
    """
    if store is not None:
        examine_store = STORE_DOCTOR.load("doctor --store")
        code: int = examine_store(store, format_)
        return code
    checks = _ServerChecks(server, timeout_s)
    return write_findings(
        diagnose(
            [
                Step("address", checks.address),
                Step("connection", checks.connection, ("address",)),
                Step("tls", checks.tls, ("connection",)),
                Step("server", checks.answer, ("tls",)),
                Step("version", checks.version, ("server",)),
                Step("clock", checks.clock, ("server",)),
                Step("token", checks.token, ("server",)),
                Step("store", checks.store, ("server",)),
                Step("disk", checks.disk, ("store",)),
            ]
        ),
        format_,
    )


class _ServerChecks:
    """Checks of a server, step by step; later steps use the results of earlier ones."""

    def __init__(self, server: ServerChoice, timeout_s: float) -> None:
        self._server = server
        self._timeout_s = timeout_s
        self._host, _, self._port = server.address.rpartition(":")
        self._addresses: list[str] = []
        self._told: sdk.ServerInfo | None = None
        self._token_refused = False
        self._asked_at = datetime.now(UTC)

    def address(self) -> Passed:
        host = self._host.removeprefix("[").removesuffix("]")
        is_name = bool(host) and "/" not in host
        if not is_name or not self._port.isdecimal() or int(self._port) > 65_535:
            advice = "name it as host:port, such as scores.example.org:443"
            raise StepFailedError(f"{self._server.address!r}", advice, ExitCode.USAGE)
        self._host = host
        try:
            found = socket.getaddrinfo(host, int(self._port), type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            advice = "check the spelling, and the name service of this machine"
            # Python itself refuses names such as a..b, which no name service can know.
            reason = error.strerror if isinstance(error, OSError) else "no host can be called that"
            raise StepFailedError(f"{host} is unknown: {reason}", advice) from None
        self._addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        return Passed(f"{host} is {', '.join(self._addresses)}")

    def connection(self) -> Passed:
        try:
            with self._connected() as connected:
                return Passed(f"{connected.getpeername()[0]} port {self._port} is open")
        except OSError as error:
            advice = (
                "start the server, check that it listens at an address that this machine reaches "
                "(setting `listen`), and firewalls between them"
            )
            reason = error.strerror or "no answer"
            raise StepFailedError(f"port {self._port}: {reason}", advice) from None

    def _connected(self) -> socket.socket:
        return socket.create_connection((self._host, int(self._port)), self._timeout_s)

    def tls(self) -> Passed:
        import vidscore_client as sdk

        server = self._server
        if not any((server.tls, server.tls_root, server.tls_certificate, server.tls_key)):
            return Passed("not encrypted", Status.SKIPPED)
        try:
            self._client("").close()  # which reads the files
            end = self._certificate_end()
        except sdk.InputError as error:
            advice = "name PEM files of an authority, or of a certificate and its own key"
            raise StepFailedError(in_typed_words(error), advice, ExitCode.USAGE) from None
        except ssl.SSLCertVerificationError as error:
            raise StepFailedError(error.verify_message, _tls_advice(error)) from None
        except ssl.SSLError as error:
            advice = "does the server have tls_certificate_file? Without it, omit --tls"
            raise StepFailedError(f"no TLS: {error.reason}", advice) from None
        except OSError as error:
            advice = "try again; a proxy or firewall may end encrypted connections"
            raise StepFailedError(error.strerror or "no answer", advice) from None
        rest = end - datetime.now(UTC)
        found = f"the certificate is for {self._host} and ends {end:%Y-%m-%d %H:%M} UTC"
        if rest < EXPIRY_WARNING:
            return Passed(found, Status.WARNING, RENEW)
        return Passed(found)

    def _certificate_end(self) -> datetime:
        context = ssl.create_default_context(cafile=self._server.tls_root or None)
        context.set_alpn_protocols(["h2"])
        if self._server.tls_certificate:
            context.load_cert_chain(self._server.tls_certificate, self._server.tls_key)
        with (
            self._connected() as connected,
            context.wrap_socket(connected, server_hostname=self._host) as encrypted,
        ):
            certificate = encrypted.getpeercert() or {}
        return datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)

    def answer(self) -> Passed:
        import vidscore_client as sdk

        try:
            self._told = self._ask_with_or_without_token()
        except sdk.UnsupportedError:
            advice = "update the server, or ask with a vidscore of its version"
            raise StepFailedError("does not know this request: it is older", advice) from None
        except sdk.VidscoreError as error:
            if GRPC_FOUND_HTTP in error.message:
                raise StepFailedError(*SPEAKS_HTTP) from None
            raise StepFailedError(error.message, no_answer_advice(self._server)) from None
        if self._told is None:
            return Passed("answers only with a valid token")
        if self._told.draining:
            return Passed("is about to stop", Status.WARNING, "try again in a minute")
        return Passed("hosts benchmarks" if self._told.hosting else "scores streams")

    def _ask_with_or_without_token(self) -> sdk.ServerInfo | None:
        """The server's information; None if it gives none without a valid token."""
        import vidscore_client as sdk

        try:
            return self._ask(self._server.token)
        except sdk.AccessDeniedError:
            self._token_refused = bool(self._server.token)
        try:
            return self._ask("")
        except sdk.AccessDeniedError:
            return None

    def _client(self, token: str) -> sdk.Client:
        return connect_to(replace(self._server, token=token), timeout_s=self._timeout_s)

    def _ask(self, token: str) -> sdk.ServerInfo:
        with self._client(token) as client:
            self._asked_at = datetime.now(UTC)
            told = client.server()
            self._asked_at += (datetime.now(UTC) - self._asked_at) / 2
            return told

    def version(self) -> Passed:
        import vidscore_client as sdk

        told = self._told
        if told is None:
            return NOT_TOLD
        ours = f"this is {sdk.__version__}"
        found = (
            f"the server is {told.version}, works with clients {told.oldest_client_version} to "
            f"{told.newest_client_version}; {ours}"
        )
        minor = tuple(int(part) for part in sdk.__version__.split(".")[:2])
        oldest, newest = (
            tuple(int(part) for part in text.split("."))
            for text in (told.oldest_client_version, told.newest_client_version)
        )
        if minor < oldest:
            raise StepFailedError(found, "update this vidscore", ExitCode.INPUT)
        if minor > newest:
            advice = "update the server, or use an older vidscore here"
            raise StepFailedError(found, advice, ExitCode.INPUT)
        return Passed(found)

    def clock(self) -> Passed:
        told = None if self._told is None else self._told.time
        if told is None:
            return NOT_TOLD
        apart = abs(told - self._asked_at)
        found = f"{apart.total_seconds():.1f} s apart"
        advice = "set both clocks by the network's time (NTP)"
        if apart > CLOCK_FAILURE:
            raise StepFailedError(found, advice, ExitCode.INPUT)
        return Passed(found, Status.WARNING, advice) if apart > CLOCK_WARNING else Passed(found)

    def token(self) -> Passed:
        if self._token_refused:
            advice = (
                "ask an organiser for a token or, as the server's operator, create one: "
                "vidscore init --store FILE"
            )
            found = "unknown, expired or revoked"
            raise StepFailedError(found, advice, ExitCode.REFUSED)
        told = self._told
        if told is None:
            advice = "set VIDSCORE_TOKEN"
            raise StepFailedError("none, and the server requires one", advice, ExitCode.REFUSED)
        if told.token is None:
            needed = "hosted benchmarks need one: set VIDSCORE_TOKEN" if told.hosting else ""
            return Passed("none", Status.SKIPPED, needed)
        team = f" of team {told.token.team}" if told.token.team else ""
        found = f"{told.token.name}, {told.token.role}{team}"
        end = told.token.expire_time
        if end is None:
            return Passed(f"{found}, does not end")
        found = f"{found}, ends {end:%Y-%m-%d %H:%M} UTC"
        if end - datetime.now(UTC) < EXPIRY_WARNING:
            return Passed(found, Status.WARNING, "ask an organiser for a new one in time")
        return Passed(found)

    def store(self) -> Passed:
        store = None if self._told is None else self._told.store
        if store is None:
            self._ask_whether_it_serves()
            return NOT_TOLD_TO_ALL
        if not store.up:
            advice = "look into the server's log, and at the database"
            raise StepFailedError(f"{store.kind} does not answer", advice, ExitCode.INPUT)
        return Passed(f"{store.kind}, {(store.size_bytes or 0) / GIBIBYTE:.3f} GiB")

    def _ask_whether_it_serves(self) -> None:
        """Check the health service, which answers everybody."""
        import vidscore_client as sdk

        try:
            with self._client("") as client:
                health = client.health()
        except sdk.VidscoreError:
            return  # the step `server` has reported it
        if health is not sdk.Health.SERVING and not (self._told and self._told.draining):
            advice = "tell an organiser, and try again later"
            raise StepFailedError("the server does not serve now", advice)

    def disk(self) -> Passed:
        store = None if self._told is None else self._told.store
        if store is None:
            return NOT_TOLD_TO_ALL
        if store.free_disk_bytes is None:
            return Passed("on another machine", Status.SKIPPED)
        return disk_step(store.free_disk_bytes)


def _tls_advice(error: ssl.SSLCertVerificationError) -> str:
    text = error.verify_message.lower()
    if "expired" in text:
        return RENEW
    if "match" in text or "mismatch" in text:
        return "use the name that the certificate is for, or get one for this name"
    return "name the authority that has signed it with --tls-root"

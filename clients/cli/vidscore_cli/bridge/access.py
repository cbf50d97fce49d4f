"""Access to a broker: its address, and secrets in files or in the environment.

A secret is read when it is needed, and never shown: addresses, options and messages do not contain
it. Messages about a broker that is away are here, too.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import click
from msgspec import Struct

from vidscore_cli.output import say
from vidscore_evaluators.errors import Fault

MOST_SECRET_BYTES = 1 << 16
SECRETS = ("password", "token")
ACCESS_KEYS = (*(f"{name}_{place}" for name in SECRETS for place in ("file", "env")), "tls_ca")
"""Keys of a source about access to its broker."""

_PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)


class Secret(Struct, frozen=True):
    """The place of a secret.

    Attributes:
        key: The key of the source that names the place.
        place: A file, or the name of a variable of the environment.
    """

    key: str
    place: str

    def read(self) -> str:
        """The present secret, without the newline.

        Raises:
            ValueError: If there is none; the message says what was found instead.
        """
        if self.key.endswith("_env"):
            text = os.environ.get(self.place)
            if text is None:
                raise ValueError(f"the variable {self.place}, which is not set")
        else:
            try:
                with Path(self.place).open("rb") as file:
                    data = file.read(MOST_SECRET_BYTES + 1)
                text = data.decode().rstrip("\r\n") if len(data) <= MOST_SECRET_BYTES else ""
            except OSError as error:
                raise ValueError(f"{self.place}, which cannot be read ({error.strerror})") from None
            except UnicodeDecodeError:
                raise ValueError(f"{self.place}, which is not text") from None
        if not text or len(text) > MOST_SECRET_BYTES:
            what = "which is empty" if not text else "which is too long"
            raise ValueError(f"{self.place}, {what}")
        return text


class BrokerAccess(Struct, frozen=True):
    """A broker, and the access to it.

    Attributes:
        address: ``scheme://user@host:port/topic``.
        tls_ca: File of the trusted certificates; empty for the system's own.
        password: The user's password; None for none.
        token: A token instead of user and password; None for none.
    """

    address: SplitResult
    tls_ca: str = ""
    password: Secret | None = None
    token: Secret | None = None

    @property
    def host(self) -> str:
        """The broker's host."""
        return self.address.hostname or "127.0.0.1"

    @property
    def bare_host(self) -> str:
        """Host and port, as in the address."""
        return self.address.netloc.rpartition("@")[2] or "127.0.0.1"

    @property
    def topic(self) -> str:
        """The topic or stream to read; empty if the address has none."""
        return unquote(self.address.path.removeprefix("/"))

    @property
    def query(self) -> Mapping[str, list[str]]:
        """The query of the address."""
        return parse_qs(self.address.query)

    @property
    def user(self) -> str | None:
        """Name of the user; None if there is none."""
        return None if self.address.username is None else unquote(self.address.username)

    @property
    def is_encrypted(self) -> bool:
        """Whether the connection is encrypted."""
        return bool(self.tls_ca) or self.query.get("tls") == ["1"]

    def read_password(self) -> str | None:
        """The password; None if there is none.

        Raises:
            click.ClickException: If it is no longer there.
        """
        return _read(self.password)

    def read_token(self) -> str | None:
        """The token; None if there is none.

        Raises:
            click.ClickException: If it is no longer there.
        """
        return _read(self.token)

    def tls_context(self) -> ssl.SSLContext:
        """The TLS context, which checks the broker's certificate."""
        return ssl.create_default_context(cafile=self.tls_ca or None)


def _read(secret: Secret | None) -> str | None:
    if secret is None:
        return None
    try:
        return secret.read()
    except ValueError as error:
        raise click.ClickException(f"{secret.key}: found {error}") from None


def lasting_tls_error(error: BaseException | None) -> str | None:
    """Why TLS fails for good; None for errors that may pass."""
    if not isinstance(error, ssl.SSLError) or isinstance(error, _PASSING):
        return None
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return f"the connection cannot be encrypted ({error.reason})"


def checked_access(given: Mapping[str, Any], prefix: str, faults: list[Fault]) -> BrokerAccess:
    """The access to the broker of a source; adds its faults.

    Args:
        given: Values, by key of the file.
        prefix: Text before a key in messages.
        faults: Receives the faults.
    """

    def refuse(key: str, found: str, expected: str, advice: str | None = None) -> None:
        faults.append(Fault(found, expected, field=f"{prefix}{key}", advice=advice))

    try:
        address = urlsplit(given.get("url", ""))
        _ = address.port
    except ValueError as error:
        refuse("url", f"no address ({error})", "such as mqtt://user@host:1883/topic")
        address = urlsplit("")
    has_broker = address.scheme in {"mqtt", "nats", "kafka"}
    if has_broker and address.password is not None:
        advice = "write it into a file, and name this in password_file of a file of --sources"
        refuse("url", "a password in an address", "mqtt://user@host/topic or the like", advice)
        bare = address.netloc.rpartition("@")[2]
        address = address._replace(netloc=bare)  # no later message may show it
    named = [key for key in ACCESS_KEYS if given.get(key)]
    if named and not has_broker:
        refuse(named[0], "it with a source that is not a broker", "mqtt, nats or kafka")
        return BrokerAccess(address)
    secrets = [Secret(key, given[key]) for key in named if key != "tls_ca"]
    if len(secrets) > 1:
        refuse(secrets[1].key, f"it together with {secrets[0].key}", "one of them")
    for secret in secrets:
        try:
            secret.read()
        except ValueError as error:
            refuse(secret.key, str(error), "a secret")
    access = BrokerAccess(
        address,
        given.get("tls_ca", ""),
        next((one for one in secrets if one.key.startswith("password")), None),
        next((one for one in secrets if one.key.startswith("token")), None),
    )
    _check_use(access, refuse)
    return access


def _check_use(access: BrokerAccess, refuse: Callable[..., None]) -> None:
    """Refuse settings that the kind of broker cannot use."""
    if access.password is not None and access.user is None:
        refuse(
            access.password.key, "a password without a user", "mqtt://user@host/topic or the like"
        )
    if access.token is not None and access.address.scheme == "mqtt":
        advice = f"give it as {access.token.key.replace('token', 'password')}, with a user"
        refuse(access.token.key, "a token for MQTT", "a password", advice)
    if access.token is not None and access.user is not None:
        refuse(access.token.key, f"a token together with the user {access.user}", "one of them")
    if access.tls_ca:
        try:
            access.tls_context()
        except OSError as error:  # errors of TLS are OSErrors, too
            found = f"{access.tls_ca} ({error.strerror or error})"
            refuse("tls_ca", found, "a file of certificates in PEM")


class Absence:
    """Something that a source waits for; each absence is reported once.

    Args:
        host: The broker.
        what: The thing that is awaited.

    Attributes:
        refused: Why the broker refuses for good; None if it does not.
    """

    def __init__(self, host: str, what: str = "the broker") -> None:
        self.refused: str | None = None
        self._host, self._what = host, what
        self._is_away = self._is_over = False

    def check(self) -> None:
        """End the run if the broker refuses for good.

        Raises:
            click.ClickException: If the broker refuses.
        """
        if self.refused is not None:
            raise click.ClickException(f"the broker refuses: {self.refused}")

    def begin(self, reason: str) -> None:
        """Report that it is away, unless the broker refuses."""
        if self.refused is None and not (self._is_away or self._is_over):
            self._is_away = True
            text = f"{self._what} is away ({reason}); trying again"
            say(f"Warning: {self._host}: {text}", err=True)

    def end(self) -> None:
        """Report that it is back."""
        if self._is_away and not self._is_over:
            self._is_away = False
            say(f"{self._host}: {self._what} is back", err=True)

    def close(self) -> None:
        """Stop reporting."""
        self._is_over = True

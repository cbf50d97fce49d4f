"""Which server a command talks to: options, environment, and the file of sites.

The file keeps servers and their tokens under names; only its user may read it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.session import DEFAULT_ADDRESS, ExitCode

if TYPE_CHECKING:
    from vidscore_client import Tls


FILE_NAME = "sites.toml"

FILE_MODE = 0o600

FOLDER_MODE = 0o700


TLS_FILES = ("tls_root", "tls_certificate", "tls_key")


@dataclass(frozen=True)
class ServerChoice:
    """A server, and how to connect to it.

    Attributes:
        address: ``host:port``.
        token: Sent with each call; empty for none.
        tls: Whether to encrypt.
        tls_root: PEM file of the authorities to trust; empty for the system's own.
        tls_certificate: PEM file of this side's certificate; empty for none.
        tls_key: PEM file of its private key; empty for none.
        plaintext_token: Whether the token may go unencrypted to another machine.
    """

    address: str
    token: str = field(default="", repr=False)
    tls: bool = False
    tls_root: str = ""
    tls_certificate: str = ""
    tls_key: str = ""
    plaintext_token: bool = False

    @property
    def sdk_tls(self) -> Tls | bool:
        """The TLS settings for the SDK.

        Raises:
            InputError: If only one of certificate and key is given.
        """
        from vidscore_client import Tls

        files = [getattr(self, name) or None for name in TLS_FILES]
        return Tls(*files) if any(files) else self.tls


@dataclass(frozen=True)
class Sites:
    """All sites of a user.

    Attributes:
        default: Name of the default site; empty for none.
        by_name: The sites.
    """

    default: str = ""
    by_name: Mapping[str, ServerChoice] = field(default_factory=dict)

    def named(self, name: str) -> ServerChoice:
        """A site by its name.

        Raises:
            click.UsageError: If there is none of that name.
        """
        if name not in self.by_name:
            known = ", ".join(self.by_name) or "none yet"
            raise click.UsageError(
                f"unknown site {name!r}; there are {known}. vidscore login adds one"
            )
        return self.by_name[name]

    def of(self, address: str) -> ServerChoice | None:
        """The site of a server: the default site if it is one, otherwise the only one."""
        default = self.by_name.get(self.default)
        if default is not None and default.address == address:
            return default
        found = [site for site in self.by_name.values() if site.address == address]
        return found[0] if len(found) == 1 else None

    def with_site(self, name: str, site: ServerChoice, *, default: bool) -> Sites:
        """These sites and a further one, which replaces one of the same name."""
        chosen = name if default or self.default not in self.by_name else self.default
        return Sites(chosen, {**self.by_name, name: site})

    def without(self, name: str) -> Sites:
        """These sites without one; if only one is left, it becomes the default."""
        left = {key: site for key, site in self.by_name.items() if key != name}
        only = next(iter(left)) if len(left) == 1 else ""
        return Sites(self.default if self.default in left else only, left)


class SitesFileError(click.ClickException):
    """The file of sites cannot be used."""

    exit_code = ExitCode.INPUT


def sites_file() -> Path:
    """Path of the file of sites.

    Raises:
        SitesFileError: If the user has no home folder.
    """
    folder = _folder()
    if folder is None:
        raise SitesFileError("this user has no home folder; set HOME or XDG_CONFIG_HOME to one")
    return folder / FILE_NAME


def _folder() -> Path | None:
    configured = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        home = configured if configured.is_absolute() else Path.home() / ".config"
    except RuntimeError:  # without HOME, a user whom the system does not know, as in containers
        return None
    return home / "vidscore"


def read_sites() -> Sites:
    """The sites of the user; none if there is no file, or no folder that this user may enter.

    Raises:
        SitesFileError: If the file cannot be read, or is not what `write_sites` writes.
    """
    import tomllib

    folder = _folder()
    if folder is None or not os.access(folder, os.X_OK):  # HOME may be that of another user
        return Sites()
    path = folder / FILE_NAME
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return Sites()
    except OSError as error:
        raise SitesFileError(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise SitesFileError(f"{path} is no TOML: {error}") from None
    try:
        by_name = {name: _site_of(entry) for name, entry in document.get("sites", {}).items()}
        return Sites(str(document.get("default", "")), by_name)
    except (TypeError, KeyError, AttributeError):
        keys = ", ".join(entry.name for entry in fields(ServerChoice)[1:])
        raise SitesFileError(
            f"{path}: a site is a table [sites.NAME] with server and, where needed, {keys}"
        ) from None


def change_sites(change: Callable[[Sites], Sites]) -> Sites:
    """Change the stored sites, one process at a time, and return them.

    Raises:
        SitesFileError: As `read_sites` does.
        OSError: If they cannot be written.
    """
    folder = sites_file().parent
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    with _alone_in(folder):
        sites = change(read_sites())
        write_sites(sites)
    return sites


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    if os.name == "nt":  # which locks no folder
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_sites(sites: Sites) -> Path:
    """Store sites in a file that is complete at any time, and return its path.

    Raises:
        OSError: If it cannot be written.
    """
    from vidscore_cli.output import write_atomically
    from vidscore_evaluators.formats.manifest import write_document

    path = sites_file()
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    default = {"default": sites.default} if sites.default else {}
    tables = {name: _table_of(site) for name, site in sites.by_name.items()}
    text = write_document({**default, "sites": tables})
    write_atomically(path, text.encode(), mode=FILE_MODE)
    return path


def _site_of(table: dict[str, Any]) -> ServerChoice:
    entries = {**table}
    site = ServerChoice(entries.pop("server"), **entries)
    for entry in fields(ServerChoice):
        kind = bool if isinstance(entry.default, bool) else str
        if not isinstance(getattr(site, entry.name), kind):
            raise TypeError
    return site


def _table_of(site: ServerChoice) -> dict[str, Any]:
    entries = asdict(site)
    table = {"server": entries.pop("address"), **entries}
    return {key: value for key, value in table.items() if value}


_NEVER_EMPTY = {
    "server": "host:port, [address]:port or unix:path",
    "token": "the secret of a token",
}
"""Options that would otherwise mean the server, or the token, of the environment or of a site."""


def choose_server(
    typed: Mapping[str, Any], site_name: str | None, environment: Mapping[str, str | None]
) -> ServerChoice:
    """Choose the server: options override the environment, which overrides the file of sites.

    A site's token, and its settings of TLS, apply only to its own server.

    Args:
        typed: Values of the options for ``server``, ``token`` and the connection; None if not
            given.
        site_name: The named site; None for none.
        environment: Values of ``server`` and ``token`` in the environment.

    Raises:
        click.ClickException: If the server or the token is empty, there is no such site, it has
            another server than the typed one, or the file of sites cannot be read.
    """
    for name, expected in _NEVER_EMPTY.items():
        if typed[name] == "":  # from a variable that is not set
            raise click.UsageError(f"--{name}: found '', expected {expected}")
    sites = read_sites()
    named = None if site_name is None else sites.named(site_name)
    if named is not None and typed["server"] not in {None, named.address}:
        raise click.UsageError(
            f"--server {typed['server']} and --site {site_name}, which is {named.address}, "
            "name two servers"
        )
    default = sites.by_name.get(sites.default)
    address = (
        typed["server"]
        or (named.address if named is not None else environment["server"])
        or (default.address if default is not None else DEFAULT_ADDRESS)
    )
    kept = named or sites.of(address) or ServerChoice(address)
    of_site, of_environment = kept.token, environment["token"]
    later = (of_site, of_environment) if named is not None else (of_environment, of_site)
    return ServerChoice(
        address,
        token=typed["token"] or later[0] or later[1] or "",
        tls=typed["tls"] or kept.tls,
        **{name: typed[name] or getattr(kept, name) for name in TLS_FILES},
        plaintext_token=typed["plaintext_token"] or kept.plaintext_token,
    )

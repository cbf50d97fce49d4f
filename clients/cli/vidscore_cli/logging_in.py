"""What `vidscore login` and `vidscore logout` do."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import click

from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.server_choice import DEFAULT_ADDRESS, ServerChoice
from vidscore_cli.sites import Site, Sites, read_sites, sites_file, write_sites

STDIN = "-"
SITE_COLUMNS = ("site", "server", "default", "tls", "token")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Login:
    """What is typed after `vidscore login`; the names are those of the options."""

    site: str
    server: str | None
    token_file: str | None
    default: bool
    tls: bool
    tls_root: str | None
    tls_certificate: str | None
    tls_key: str | None
    plaintext_token: bool
    token: str | None = field(default=None, repr=False)


def login(typed: Login) -> None:
    """Keep a site, once its server has taken the token.

    Raises:
        click.ClickException: If the server cannot be reached or refuses the token.
    """
    if _NAME.fullmatch(typed.site) is None:
        expected = "1 to 63 letters, digits, dots, hyphens and underscores, no sign first"
        raise click.BadParameter(f"{typed.site!r} is not {expected}", param_hint="--site")
    sites = read_sites()
    known = sites.by_name.get(typed.site)
    if known is not None and typed.default and not (typed.server or typed.token_file):
        _keep(sites.with_site(typed.site, known, default=True), typed.site)
        return
    site = _site(typed, known)
    choice = ServerChoice(
        site.server,
        site.tls,
        site.tls_root or None,
        site.tls_certificate or None,
        site.tls_key or None,
        site.token or None,
        site.plaintext_token,
    )
    with open_client(choice) as client:
        client.server()
    _keep(sites.with_site(typed.site, site, default=typed.default), typed.site)


def list_sites(format_: str, output: str) -> None:
    """List the sites; of a token whether there is one."""
    sites = read_sites()
    records = [
        {
            "site": name,
            "server": site.server,
            "default": name == sites.default,
            "tls": bool(site.tls or site.tls_root or site.tls_certificate),
            "token": bool(site.token),
        }
        for name, site in sites.by_name.items()
    ]
    write_records(records, SITE_COLUMNS, format_, output)


def forget_site(name: str | None) -> None:
    """Take a site out of the file.

    Raises:
        click.UsageError: If there is none such.
    """
    sites = read_sites()
    chosen = name or sites.default
    if not chosen:
        raise click.UsageError("there is no default site; name one with --site")
    sites.named(chosen)
    write_sites(sites.without(chosen))
    say(f"site {chosen} is forgotten; its token holds until it is revoked")


def _site(typed: Login, known: Site | None) -> Site:
    present = known or Site(DEFAULT_ADDRESS)
    server = typed.server or present.server
    same = present if server == present.server else Site(server)
    return Site(
        server,
        _token(typed),
        typed.tls or same.tls,
        _absolute(typed.tls_root) or same.tls_root,
        _absolute(typed.tls_certificate) or same.tls_certificate,
        _absolute(typed.tls_key) or same.tls_key,
        typed.plaintext_token or same.plaintext_token,
    )


def _token(typed: Login) -> str:
    """The token: from a file, an option, or typed without being shown."""
    if typed.token_file not in {None, STDIN}:
        try:
            return Path(str(typed.token_file)).read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise click.BadParameter(
                f"{typed.token_file} cannot be read: {reason}", param_hint="--token-file"
            ) from None
    if typed.token_file is None and typed.token:
        return typed.token
    if typed.token_file is None and sys.stdin.isatty():
        asked: str = click.prompt("Token (it is not shown)", hide_input=True, err=True)
        return asked.strip()
    return sys.stdin.readline().strip()


def _absolute(file: str | None) -> str:
    """A path that holds in any folder."""
    return str(Path(file).resolve()) if file else ""


def _keep(sites: Sites, name: str) -> None:
    write_sites(sites)
    default = ", the default one" if sites.default == name else ""
    say(f"site {name}{default}, is kept in {sites_file()}: {sites.by_name[name].server}")

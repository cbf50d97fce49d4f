"""`vidscore login`: save a server and its token under a name."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from vidscore_cli.command_tree import ActingTree, Entry, command
from vidscore_cli.options import connection_options, records_options
from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.session import DEFAULT_ADDRESS
from vidscore_cli.sites import ServerChoice, change_sites, read_sites, sites_file

HERE = "vidscore_cli.commands.login"

SECTIONS = {"Sites": {"list": Entry(f"{HERE}:list_")}}

STDIN = "-"

SITE_COLUMNS = ("site", "server", "default", "tls", "token")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


@dataclass(frozen=True)
class Login:
    """Options of `vidscore login`, by name."""

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


@click.group(
    "login",
    cls=ActingTree,
    sections=SECTIONS,
    examples=(
        "vidscore login --server 127.0.0.1:50051",
        "vidscore login --site lab --server scores.example.org:443 --tls --token-file lab.secret",
        "vidscore login --site lab --default",
    ),
    invoke_without_command=True,
)
@click.option(
    "--site",
    metavar="NAME",
    default="default",
    show_default=True,
    help="Name under which to save them.",
)
@click.option(
    "--server",
    metavar="HOST:PORT",
    envvar="VIDSCORE_SERVER",
    help=f"Address of the server. [default: that of the site, else {DEFAULT_ADDRESS}]",
)
@click.option(
    "--token-file",
    metavar="PATH",
    type=click.Path(),
    help="File with the token, or - for standard input; by default the command asks for it.",
)
@click.option("--default", is_flag=True, help="Use this site if none is named.")
@connection_options()
@click.pass_context
def login(ctx: click.Context, /, **choices: Any) -> None:
    """Save a server and its token as a site, for all commands.

    They are saved in ~/.config/vidscore/sites.toml, which only you can read. The first site is the
    default one; --site NAME chooses another. Nothing is saved unless the server accepts the token.
    """
    if ctx.invoked_subcommand is None:
        log_in(Login(**choices))


@command("list", examples=("vidscore login list",))
@records_options()
def list_(format_: str, output: str) -> None:
    """List the sites, without their tokens."""
    sites = read_sites()
    records = [
        {
            "site": name,
            "server": site.address,
            "default": name == sites.default,
            "tls": bool(site.tls or site.tls_root or site.tls_certificate),
            "token": bool(site.token),
        }
        for name, site in sites.by_name.items()
    ]
    write_records(records, SITE_COLUMNS, format_, output)


@command("logout", examples=("vidscore logout", "vidscore logout --site lab"))
@click.option("--site", metavar="NAME", help="The site. [default: the default one]")
def logout(site: str | None) -> None:
    """Delete a saved site and its token, which stays valid until it is revoked."""
    sites = read_sites()
    chosen = site or sites.default
    if not chosen:
        raise click.UsageError("there is no default site; name one with --site")
    sites.named(chosen)
    change_sites(lambda present: present.without(chosen))
    say(f"site {chosen} is deleted; its token stays valid until it is revoked")


def log_in(typed: Login) -> None:
    """Save a site, if its server accepts the token.

    Raises:
        click.ClickException: If the server cannot be reached or refuses the token.
    """
    if _NAME.fullmatch(typed.site) is None:
        expected = "1 to 63 letters, digits, dots, hyphens or underscores, a letter or digit first"
        raise click.BadParameter(f"{typed.site!r} is not {expected}", param_hint="--site")
    sites = read_sites()
    known = sites.by_name.get(typed.site)
    if known is not None and typed.default and not (typed.server or typed.token_file):
        _keep(typed, known)
        return
    site = _site(typed, known)
    with open_client(site) as client:
        client.server()
    _keep(typed, site)


def _site(typed: Login, known: ServerChoice | None) -> ServerChoice:
    present = known or ServerChoice(DEFAULT_ADDRESS)
    address = typed.server or present.address
    same = present if address == present.address else ServerChoice(address)
    return ServerChoice(
        address,
        _token(typed),
        typed.tls or same.tls,
        _absolute(typed.tls_root) or same.tls_root,
        _absolute(typed.tls_certificate) or same.tls_certificate,
        _absolute(typed.tls_key) or same.tls_key,
        typed.plaintext_token or same.plaintext_token,
    )


def _token(typed: Login) -> str:
    """The token: from a file, an option, or typed without being shown."""
    if typed.token_file is not None:
        token = _token_in(typed.token_file)
        if not token:  # it would replace the token of a site
            raise click.BadParameter(f"{typed.token_file} has no token", param_hint="--token-file")
        return token
    if typed.token:
        return typed.token
    if sys.stdin.isatty():
        asked: str = click.prompt("Token (it is not shown)", hide_input=True, err=True)
        return asked.strip()
    return sys.stdin.readline().strip()


def _token_in(file: str) -> str:
    if file == STDIN:
        return sys.stdin.readline().strip()
    try:
        return Path(file).read_text(encoding="utf-8-sig").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise click.BadParameter(
            f"{file} cannot be read: {reason}", param_hint="--token-file"
        ) from None


def _absolute(file: str | None) -> str:
    """A path that is valid in any working folder."""
    return str(Path(file).absolute()) if file else ""


def _keep(typed: Login, site: ServerChoice) -> None:
    name = typed.site
    sites = change_sites(lambda present: present.with_site(name, site, default=typed.default))
    default = ", the default one," if sites.default == name else ""
    say(f"site {name}{default} is saved in {sites_file()}: {sites.by_name[name].address}")

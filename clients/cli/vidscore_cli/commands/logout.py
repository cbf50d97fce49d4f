"""`vidscore logout`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command


@command("logout", examples=("vidscore logout", "vidscore logout --site lab"))
@click.option("--site", metavar="NAME", help="The site; by default the default one.")
def logout(site: str | None) -> None:
    """Forget a site and its token, which holds until it is revoked."""
    from vidscore_cli.logging_in import forget_site

    forget_site(site)

"""`vidscore trust` and its commands."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import CommandTree, Entry

SECTIONS = {
    "Commands": {
        "ranking": Entry("vidscore_cli.commands.trust_ranking:ranking"),
        "criterion": Entry("vidscore_cli.commands.trust_criterion:criterion"),
        "consistency": Entry("vidscore_cli.commands.trust_consistency:consistency"),
    },
}


@click.group("trust", cls=CommandTree, sections=SECTIONS)
def trust() -> None:
    """Examine how reliable rankings and criteria are."""

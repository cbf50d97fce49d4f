"""`vidscore evaluators`."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import complete_evaluator, format_option


@command(
    "evaluators",
    examples=("vidscore evaluators", "vidscore evaluators neovision2 --format json"),
)
@click.argument("name", required=False, shell_complete=complete_evaluator)
@format_option("table", "json")
def evaluators(name: str | None, format_: str) -> None:
    """List the evaluators, or show the parameters and measures of one."""
    from vidscore_cli import evaluator_listing

    evaluator_listing.show(name, format_)

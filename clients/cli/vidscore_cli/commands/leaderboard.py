"""`vidscore leaderboard`."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import records_options, server_options


@command(
    "leaderboard",
    examples=("vidscore leaderboard sky", "vidscore leaderboard sky --format csv"),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.option(
    "--evaluator",
    metavar="EVALUATOR",
    default="",
    help="Evaluator that ranks; by default the benchmark's first.",
)
@click.option("--domain", metavar="DOMAIN", help="Rank over one domain alone.")
@click.option("--class", "class_", metavar="CLASS", help="Rank over one class alone.")
@server_options()
@records_options()
def leaderboard(**choices: Any) -> None:
    """Show the submissions to a benchmark in rank order."""
    from vidscore_cli.hosted_benchmarks import BoardQuery, show_board

    show_board(BoardQuery(**choices))

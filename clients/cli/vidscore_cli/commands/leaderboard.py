"""`vidscore leaderboard`: the submissions to a benchmark in rank order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import records_options, server_options
from vidscore_cli.output import say
from vidscore_cli.records import Record, write_records
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_client import Leaderboard

TIER_COLUMNS = ("tier", "first_probability")
BASIS_COLUMNS = ("truth_revision", "evaluator_version", "apart", "submission_count")


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
@click.option("--domain", metavar="DOMAIN", help="Rank over this domain only.")
@click.option("--label", "--class", "label", metavar="NAME", help="Rank over this class only.")
@server_options()
@records_options()
def leaderboard(
    server: ServerChoice,
    benchmark: str,
    evaluator: str,
    domain: str | None,
    label: str | None,
    format_: str,
    output: str,
) -> None:
    """Show the submissions to a benchmark in rank order."""
    from vidscore_evaluators.report_grids import UNDEFINED

    with open_client(server) as client:
        board = client.benchmarks.leaderboard(
            benchmark, evaluator=evaluator, domain=domain, label=label
        )
    measures = tuple(
        dict.fromkeys([*board.ranking, *(name for row in board.rows for name in row.scores)])
    )
    basis = BASIS_COLUMNS[:1] if format_ == "table" else BASIS_COLUMNS
    tiers: tuple[str, ...] = TIER_COLUMNS
    if format_ == "table":  # an empty column tells nothing
        tiers = tuple(
            name for name in tiers if any(getattr(row, name) is not None for row in board.rows)
        )
    whose = ("rank", *tiers, "team")
    columns = (*whose, "title", *measures, *basis, "seal_time", "submission")
    if any(row.disqualification for row in board.rows):
        columns = (*columns, "disqualification")
    missing = UNDEFINED if format_ == "table" else None
    records: list[Record] = [
        {
            **asdict(row),
            "rank": None if row.apart or row.disqualification else row.rank,
            **dict.fromkeys(measures, missing),
            **{name: value for name, value in row.scores.items() if value is not None},
        }
        for row in board.rows
    ]
    write_records(
        records,
        columns,
        format_,
        output,
        empty="the board is empty",
        leading=len(whose),
    )
    for line in _about_board(board):
        say(line, err=True)


def _about_board(board: Leaderboard) -> Iterator[str]:
    """Notes on a leaderboard: tiers, rows without a rank, and pending changes."""
    if len(board.rows) > 1 and board.tiers_note:  # one row alone needs no tiers
        yield board.tiers_note
    if board.tiers_stale:
        yield "the tiers are older than the board; newer ones are being computed"
    apart = sum(row.apart for row in board.rows)
    if apart:
        yield (
            f"{counted(apart, 'row')} without a rank: could not be scored again under revision "
            f"{board.truth_revision} of the truth and the present rules"
        )
    if board.submissions_to_rescore:
        yield f"{counted(board.submissions_to_rescore, 'submission')} still to be scored again"
    if board.publishable:
        yield "the board can be moved: vidscore benchmark publish"
    if board.newest_truth_revision > board.truth_revision > 0:
        yield (
            f"the board shows revision {board.truth_revision} of the truth until it moves to "
            f"revision {board.newest_truth_revision}"
        )

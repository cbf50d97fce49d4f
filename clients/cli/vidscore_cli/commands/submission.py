"""`vidscore submission`: one command for each thing that is done with a submission."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import CommandTree, command
from vidscore_cli.options import (
    format_option,
    output_option,
    records_options,
    server_options,
    view_options,
)
from vidscore_cli.server_choice import ServerChoice

HERE = "vidscore_cli.commands.submission"
SECTIONS = {
    "Submissions": {
        "list": f"{HERE}:list_",
        "show": f"{HERE}:show",
        "scores": f"{HERE}:scores",
        "watch": f"{HERE}:watch",
        "seal": f"{HERE}:seal",
        "cancel": f"{HERE}:cancel",
        "retry": f"{HERE}:retry",
    },
}


@click.group("submission", cls=CommandTree, sections=SECTIONS)
def submission() -> None:
    """Follow, seal, retry and give up submissions; SUBMISSION is BENCHMARK/NAME."""


@command("list", examples=("vidscore submission list sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@records_options()
def list_(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the submissions that you may see, newest first."""
    from vidscore_cli import hosted_submissions

    hosted_submissions.list_all(server, benchmark, format_, output)


@command("show", examples=("vidscore submission show sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
@format_option("table", "json")
@output_option()
def show(server: ServerChoice, submission: str, format_: str, output: str) -> None:
    """Show where a submission stands, and why."""
    from vidscore_cli import hosted_submissions

    hosted_submissions.show(server, submission, format_, output)


@command("scores", examples=("vidscore submission scores sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
@format_option("table", "json", "csv")
@output_option()
@view_options()
def scores(
    server: ServerChoice, submission: str, format_: str, output: str, sequences: bool, curves: bool
) -> None:
    """Show as much of a submission's newest scores as the benchmark's policy releases."""
    from vidscore_cli.hosted_submissions import show_scores
    from vidscore_cli.report_table import View
    from vidscore_cli.reporting import Presentation

    wanted = Presentation(format_, output, View(sequences=sequences, curves=curves))
    show_scores(server, submission, wanted)


@command("watch", examples=("vidscore submission watch sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def watch(server: ServerChoice, submission: str) -> None:
    """Write a line for every change of a submission, until it has ended.

    The exit code is 5 if it fails or is cancelled.
    """
    from vidscore_cli import hosted_submissions

    hosted_submissions.watch(server, submission)


@command("seal", examples=("vidscore submission seal sky/falcon --expected-frames 5",))
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--expected-frames",
    metavar="COUNT",
    type=click.IntRange(0, 1_000_000_000),
    help="Seal only if so many frames have come, in all streams together.",
)
@server_options()
def seal(server: ServerChoice, submission: str, expected_frames: int | None) -> None:
    """Take no more frames; the submission is scored then."""
    from vidscore_cli import hosted_submissions

    hosted_submissions.seal(server, submission, expected_frames)


@command("cancel", examples=("vidscore submission cancel sky/mole",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def cancel(server: ServerChoice, submission: str) -> None:
    """Give a submission up."""
    from vidscore_cli import hosted_submissions

    hosted_submissions.cancel(server, submission)


@command("retry", examples=("vidscore submission retry sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def retry(server: ServerChoice, submission: str) -> None:
    """Have a failed submission scored again; it takes no further place in a quota."""
    from vidscore_cli import hosted_submissions

    hosted_submissions.retry(server, submission)

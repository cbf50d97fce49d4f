"""`vidscore benchmark`: one command for each thing that an organiser does."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import CommandTree, command
from vidscore_cli.options import (
    complete_evaluator,
    format_option,
    input_format_option,
    output_option,
    records_options,
    server_options,
    truth_option,
)
from vidscore_cli.server_choice import ServerChoice

HERE = "vidscore_cli.commands.benchmark"
SECTIONS = {
    "Benchmarks": {
        "new": f"{HERE}:new",
        "create": f"{HERE}:create",
        "show": f"{HERE}:show",
        "list": f"{HERE}:list_",
        "update": f"{HERE}:update",
        "delete": f"{HERE}:delete",
    },
    "Truth and scores": {
        "truth": f"{HERE}:truth",
        "revisions": f"{HERE}:revisions",
        "rescore": f"{HERE}:rescore",
        "publish": f"{HERE}:publish",
    },
}


@click.group("benchmark", cls=CommandTree, sections=SECTIONS)
def benchmark() -> None:
    """Host benchmarks: create, show and change them, upload truth, score again."""


@command(
    "new",
    examples=(
        "vidscore benchmark new spotgeo --title 'Night sky' --file sky.toml",
        "vidscore benchmark new map",
    ),
)
@click.argument("evaluator", metavar="EVALUATOR", shell_complete=complete_evaluator)
@click.option("--title", metavar="TEXT", default="New benchmark", help="Title for people.")
@click.option(
    "--file",
    metavar="FILE",
    type=click.Path(),
    default="-",
    help="Write to this new file instead of standard output.",
)
def new(evaluator: str, title: str, file: str) -> None:
    """Write the file of a benchmark, with every choice and its default explained.

    A benchmark can be created from it as it stands.
    """
    from vidscore_cli.benchmark_template import write_template

    write_template(evaluator, title, file)


@command("create", examples=("vidscore benchmark create sky benchmark.toml",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path())
@server_options()
def create(server: ServerChoice, benchmark: str, file: str) -> None:
    """Create a benchmark from a TOML file.

    FILE has the keys of a manifest and, beside them, truth_geometry, detection_geometry,
    open_time, close_time, public_names and a table policy; vidscore benchmark new writes one.
    """
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.create(server, benchmark, file)


@command(
    "show",
    examples=("vidscore benchmark show sky", "vidscore benchmark show sky --format toml"),
)
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@format_option("table", "json", "toml")
@output_option()
def show(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """Show a benchmark; as TOML it is a file to create it from."""
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.show(server, benchmark, format_, output)


@command("list", examples=("vidscore benchmark list",))
@server_options()
@records_options()
def list_(server: ServerChoice, format_: str, output: str) -> None:
    """List the benchmarks of a server."""
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.list_all(server, format_, output)


@command("update", examples=("vidscore benchmark update sky benchmark.toml",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path())
@server_options()
def update(server: ServerChoice, benchmark: str, file: str) -> None:
    """Make a benchmark what a TOML file says.

    What the file does not name goes back to its default, but submissions_in_all, which stays. The
    shapes of objects cannot change.
    Where evaluators or specification change, what is stored is scored again, and the board moves
    when that is done.
    """
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.update(server, benchmark, file)


@command("delete", examples=("vidscore benchmark delete sky --force",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.option("--force", is_flag=True, help="Delete it even where it has submissions.")
@server_options()
def delete(server: ServerChoice, benchmark: str, force: bool) -> None:
    """Delete a benchmark with its truth, submissions and scores."""
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.delete(server, benchmark, force=force)


@command(
    "truth",
    examples=(
        "vidscore benchmark truth sky --truth truth.json",
        "vidscore benchmark truth sky --truth truth.json --incomplete --comment 'first night'",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@truth_option()
@input_format_option()
@click.option("--merge", is_flag=True, help="Keep the other frames of the newest revision.")
@click.option(
    "--complete/--incomplete",
    default=True,
    show_default=True,
    help="Whether this is all truth, or submissions wait for more.",
)
@click.option("--comment", metavar="TEXT", default="", help="Why, for the record.")
@server_options()
def truth(**choices: Any) -> None:
    """Upload a new revision of the truth, which participants can never read back."""
    from vidscore_cli.hosted_benchmarks import TruthUpload, upload_truth

    upload_truth(TruthUpload(**choices))


@command("revisions", examples=("vidscore benchmark revisions sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@records_options()
def revisions(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the revisions of a benchmark's truth, newest first."""
    from vidscore_cli import hosted_benchmarks

    hosted_benchmarks.show_revisions(server, benchmark, format_, output)


@command("rescore", examples=("vidscore benchmark rescore sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("submissions", metavar="[SUBMISSION]...", nargs=-1)
@click.option("--comment", metavar="TEXT", default="", help="Why, for the record.")
@server_options()
@records_options()
def rescore(**choices: Any) -> None:
    """Score stored detections again, beside the scores there are, and list what changed.

    The server does so by itself for a newer truth or other rules; this is to try once more, and to
    wait. Without a SUBMISSION, all that have a score. Interrupted, it goes on on the server.
    """
    from vidscore_cli.hosted_benchmarks import Rescore
    from vidscore_cli.hosted_benchmarks import rescore as score_again

    score_again(Rescore(**choices))


@command(
    "publish",
    examples=("vidscore benchmark publish sky --check", "vidscore benchmark publish sky"),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.option("--check", is_flag=True, help="Only list what would change; move nothing.")
@server_options()
@records_options()
def publish(**choices: Any) -> None:
    """Move a board to the new scores that wait for it, and list what that changes.

    With rescore = "review" in its policy a board moves only so.
    """
    from vidscore_cli.hosted_benchmarks import Publishing
    from vidscore_cli.hosted_benchmarks import publish as move_board

    move_board(Publishing(**choices))

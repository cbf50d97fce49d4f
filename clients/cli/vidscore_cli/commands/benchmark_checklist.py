"""`vidscore benchmark checklist`: what a benchmark's design answers, and where it is weak."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import output_option, server_options
from vidscore_cli.output import check_output, deliver
from vidscore_cli.records import short_names
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from vidscore_client import ChecklistItem


@command("checklist", examples=("vidscore benchmark checklist sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@output_option()
def checklist(server: ServerChoice, benchmark: str, output: str) -> None:
    """Answer usual questions about a benchmark's design: ranking, ties, test cases, releases.

    The output is Markdown. The questions are those of BIAS (Maier-Hein et al. 2020) that the
    benchmark's definition answers. To an organiser it also says what to do if an answer is weak.
    """
    check_output(output)
    with open_client(server) as client:
        items = client.benchmarks.checklist(benchmark)
    deliver("\n".join(_markdown(short_names(benchmark), items)), output)


def _markdown(name: str, items: Iterable[ChecklistItem]) -> Iterator[str]:
    yield f"# Checklist of {name}"
    yield ""
    yield "Questions of BIAS (Maier-Hein et al. 2020) that the benchmark's definition answers."
    for item in items:
        question, answer, advice = map(escape_controls, (item.question, item.answer, item.advice))
        yield from ("", f"## {question}", "", answer)
        if advice:
            yield from ("", f"**To do:** {advice}")

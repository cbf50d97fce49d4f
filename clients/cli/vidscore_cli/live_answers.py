"""Answers of a running program to the clock of a live benchmark."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Literal

import click
from msgspec import Struct

from vidscore_cli.failures import NotScoredError
from vidscore_cli.hosted import (
    look_up,
    online_text,
    say_warnings,
    standing,
    wait_for_score,
    write_outcome,
)
from vidscore_cli.lines import BadLineError, FrameInput
from vidscore_cli.live_exchange import Exchange, OutputClosedError, ProgramError
from vidscore_cli.output import say
from vidscore_cli.program import Program, exit_text
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import short_names
from vidscore_cli.remote import detection_arity, open_async_client, open_client
from vidscore_cli.reporting import Presentation, View
from vidscore_cli.session import ExitCode
from vidscore_cli.stopping import interrupted_by_signals
from vidscore_cli.waiting import Breaks
from vidscore_evaluators.formats.json_lines import LineReader

if TYPE_CHECKING:
    from vidscore_cli.sites import ServerChoice
    from vidscore_client import Client, LiveFrame, LiveOutcome
    from vidscore_client.aio import AsyncClient

FINISH_TIMEOUT_S = 10.0
"""Time for a program to end after its input has ended."""


class LiveAnswering(Struct, frozen=True):
    """Options of `vidscore live`, by name."""

    server: ServerChoice
    benchmark: str
    command: tuple[str, ...]
    submission: str | None
    title: str
    in_flight: int
    await_ready: bool
    silence_timeout: float
    on_error: Literal["refuse", "skip"]
    progress: bool
    format_: str
    output: str
    sequences: bool
    curves: bool


def answer_with_program(typed: LiveAnswering) -> int:
    """Let a program answer a live benchmark, wait for the score, and write the outcome.

    Returns:
        The exit code.

    Raises:
        BadLineError: If an answer breaks a rule, and ends the run.
        ProgramError: If the program ends, or is silent, while the clock runs.
        click.ClickException: If something else is wrong.
    """
    with open_client(typed.server) as client:
        exchange = _exchange_of(client, typed)
        name = typed.submission
        if name is None:
            name = client.submissions.create(typed.benchmark, title=typed.title).name
            say(short_names(name), err=True)
        submission = name.rpartition("/")[2]
        try:
            with interrupted_by_signals():
                live = asyncio.run(_answer(typed, submission, exchange))
        except (KeyboardInterrupt, BadLineError, ProgramError) as error:
            if exchange.has_begun:
                _say_going_on(typed.benchmark, submission)
            if isinstance(error, KeyboardInterrupt):
                raise click.Abort from None
            raise
        exchange.lines.say_skipped()
        _write(client, typed, live)
    return ExitCode.OK if live.online.certified else ExitCode.THRESHOLD


def _exchange_of(client: Client, typed: LiveAnswering) -> Exchange:
    found = client.benchmarks.get(typed.benchmark)
    if "live" not in found.definition:
        raise click.UsageError(
            f"{typed.benchmark} is not live; its frames go to vidscore pipe {typed.benchmark}"
        )
    arity = detection_arity(found)
    return Exchange(
        FrameInput(typed.on_error == "skip", LineReader(arity=arity)),
        sum(entry.get("frame_count", 0) for entry in found.definition.get("sequences", ())),
        in_flight=typed.in_flight,
        silence_timeout_s=typed.silence_timeout,
        progress=typed.progress,
    )


def _write(client: Client, typed: LiveAnswering, live: LiveOutcome) -> None:
    submission, answered = live.submission, live.online.in_time_count + live.online.late_count
    if not answered:
        say(f"online: {online_text(live.online)}", err=True)
        raise NotScoredError(f"{short_names(submission.name)} has no answer, and is not scored")
    say_warnings(submission.warnings)
    with ProgressBar() as bar:
        submission = wait_for_score(client, submission, bar)
    outcome = look_up(client, submission)
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_outcome(outcome, Presentation(typed.format_, typed.output, view))
    if not any(score.online for score in outcome.scores):
        say(f"online: {online_text(live.online)}", err=True)
    for line in standing(client, submission):
        say(line, err=True)


def _say_going_on(benchmark: str, submission: str) -> None:
    """Say that the clock continues, and how to answer the remaining frames."""
    say(
        "the clock continues, and nothing is sealed: the same command with --submission "
        f"{submission} answers the remaining frames, and\n"
        f"  vidscore submission seal {short_names(benchmark)}/{submission}\n"
        "has the answers so far scored",
        err=True,
    )


async def _answer(typed: LiveAnswering, submission: str, exchange: Exchange) -> LiveOutcome:
    """Run the program until the clock or the program ends; then end the program."""
    program = await Program.start(typed.command)
    exchange.begin(program)
    try:
        async with open_async_client(typed.server) as client:
            with exchange.shown():
                outcome = await _answer_over(client, typed, submission, exchange)
    except OutputClosedError:
        code = await program.finish(FINISH_TIMEOUT_S)
        how = "closed its output" if code is None else f"ended with {exit_text(code)}"
        raise ProgramError(f"the program {how} while the clock ran") from None
    else:
        code = await program.finish(FINISH_TIMEOUT_S)
        if code:
            say(f"Warning: the program ended with {exit_text(code)} after the clock had", err=True)
        return outcome
    finally:
        await program.end()


async def _answer_over(
    client: AsyncClient, typed: LiveAnswering, submission: str, exchange: Exchange
) -> LiveOutcome:
    breaks = Breaks(partial(say, err=True))
    reading = asyncio.ensure_future(exchange.read_answers())

    async def on_frame(frame: LiveFrame) -> None:
        breaks.over()
        await exchange.on_frame(frame)

    try:
        if typed.await_ready:
            await exchange.until_ready(reading)
        answering = client.answer_live(
            typed.benchmark,
            on_frame,
            submission,
            title=typed.title,
            on_stored=exchange.on_stored,
            retry=breaks.retry(),
        )
        return await exchange.while_answered(reading, answering)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)

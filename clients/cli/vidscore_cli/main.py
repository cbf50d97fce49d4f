"""The command line `vidscore`: its commands, and how their errors are reported."""

from __future__ import annotations

import atexit
import gc
import io
import os
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from vidscore_cli.command_tree import CommandTree, Entry, Sections
from vidscore_cli.session import ExitCode, Session

GARBAGE_THRESHOLD = 20_000
"""Number of allocations after which Python collects cyclic garbage."""

CLI = "vidscore_cli.commands"
SERVER = "vidscore_server.commands"

SECTIONS: Sections = {
    "Getting started": {
        "demo": Entry(
            f"{SERVER}.demo:demo",
            "Watch two simulated detectors compete in hosted benchmarks, live.",
            extra="server",
        ),
        "evaluators": Entry(
            f"{CLI}.evaluators:evaluators",
            "List the evaluators and presets, or show one.",
        ),
        "completion": Entry(
            f"{CLI}.completion:completion",
            "Print the script that lets a shell complete commands and options.",
        ),
    },
    "Files": {
        "score": Entry(f"{CLI}.score:score", "Score detections in files against truth in files."),
        "merge": Entry(
            f"{CLI}.merge:merge",
            "Merge the tally files of all shards into one report.",
        ),
        "outcomes": Entry(
            f"{CLI}.outcomes:outcomes",
            "List the outcome of each object and each detection, one row each.",
        ),
        "compare": Entry(
            f"{CLI}.compare:compare",
            "Say whether a system is better than another, how certain that is, and why.",
        ),
        "render": Entry(
            f"{CLI}.render:render", "Draw truth, detections and outcomes onto videos or images."
        ),
        "view": Entry(
            f"{SERVER}.view:view",
            "Show on one page how scores arise, down to the frame and the object.",
            extra="web",
        ),
        "validate": Entry(
            f"{CLI}.validate:validate",
            "List everything that is or looks wrong in a file or folder, and describe its content.",
        ),
        "convert": Entry(f"{CLI}.convert:convert", "Write truth or detections in another format."),
        "index": Entry(
            f"{CLI}.index:index", "Write an index of the sequences in each file of a folder."
        ),
    },
    "Trust": {
        "trust": Entry(f"{CLI}.trust:trust", "Examine how reliable rankings and criteria are."),
    },
    "Hosted benchmarks": {
        "init": Entry(
            f"{SERVER}.store:init",
            "Create a store for hosted benchmarks, and the first organiser's token.",
            extra="server",
        ),
        "benchmark": Entry(
            f"{CLI}.benchmark:benchmark",
            "Host benchmarks: create, show and change them, upload truth, score again.",
        ),
        "submit": Entry(
            f"{CLI}.submit:submit",
            "Submit detections in files to a hosted benchmark, and wait for the score.",
        ),
        "submission": Entry(
            f"{CLI}.submission:submission",
            "Follow, seal, retry, choose and cancel submissions; SUBMISSION is BENCHMARK/NAME.",
        ),
        "leaderboard": Entry(
            f"{CLI}.leaderboard:leaderboard", "Show the submissions to a benchmark in rank order."
        ),
        "queue": Entry(
            f"{CLI}.queue:queue",
            "List the submissions of all benchmarks that wait, run or have failed.",
        ),
        "token": Entry(f"{CLI}.token:token", "Create, list and revoke tokens of a server."),
        "invitation": Entry(
            f"{CLI}.invitation:invitation",
            "Invite teams by links; list, revoke and accept invitations.",
        ),
        "login": Entry(
            f"{CLI}.login:login", "Save a server and its token as a site, for all commands."
        ),
        "logout": Entry(
            f"{CLI}.login:logout",
            "Delete a saved site and its token, which stays valid until it is revoked.",
        ),
        "audit": Entry(f"{CLI}.audit:audit", "Show who did what on a server, newest first."),
        "store": Entry(
            f"{SERVER}.store:store",
            "Copy a store, and delete teams, while no server uses it.",
            extra="server",
        ),
        "backup": Entry(
            f"{SERVER}.backup:backup",
            "Back up a site, or one benchmark, to a file while the server runs.",
            extra="server",
        ),
        "restore": Entry(
            f"{SERVER}.backup:restore",
            "Restore a backup: all of it, or nothing if anything is wrong with it.",
            extra="server",
        ),
    },
    "Live streams": {
        "serve": Entry(f"{SERVER}.serve:serve", "Run a scoring server.", extra="server"),
        "pipe": Entry(
            f"{CLI}.pipe:pipe",
            "Score frames that a running program writes to standard input, one per line, as JSON.",
        ),
        "live": Entry(
            f"{CLI}.live:live",
            "Let a program answer the frames of a live benchmark.",
        ),
        "bridge": Entry(
            f"{CLI}.bridge:bridge",
            "Take detections from a running system, and submit them to a benchmark.",
        ),
        "stream": Entry(
            f"{CLI}.stream:stream", "Replay files to a server and watch the scores change."
        ),
        "health": Entry(f"{CLI}.health:health", "Ask a server whether it is serving."),
        "doctor": Entry(
            f"{CLI}.doctor:doctor", "Find out why a server cannot be used, step by step."
        ),
    },
}
"""All commands except plug-ins; a test compares the lines with the commands' own."""

PLUG_INS = "vidscore.commands"
"""Group of entry points by which other distributions add commands."""


class _Root(CommandTree):
    """The whole command line; the one place where errors become messages and exit codes."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its code."""
        del standalone_mode
        _open_missing_streams()
        _buffer_stdout()
        _outlast_stderr()
        _make_streams_lenient()
        os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are reported once, by us
        session = Session()
        extra["obj"] = session
        try:
            result = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            code = result if isinstance(result, int) else ExitCode.OK
        except click.Abort:
            code = ExitCode.INTERRUPTED
        except click.ClickException as error:
            _show(error)
            code = error.exit_code
        except Exception as error:  # noqa: BLE001 - the last resort: users get no traceback
            if isinstance(error.__cause__, KeyboardInterrupt):
                # Ctrl-C while a class is made is a RuntimeError before Python 3.12.
                code = ExitCode.INTERRUPTED
            else:
                from vidscore_cli.failures import explain

                code = explain(error, session)
        _drop_unwritten()
        sys.exit(code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; ``help score`` means ``score --help``."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the words, or show help; a reader that has stopped (``| head``) is not an error."""
        with _minding_the_reader():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader that has stopped is not an error."""
        with _minding_the_reader():
            result = super().invoke(ctx)
            sys.stdout.flush()
        return result


@contextmanager
def _minding_the_reader() -> Iterator[None]:
    """End quietly if the reader of standard output has stopped."""
    try:
        yield
    except BrokenPipeError as error:
        if not _reader_has_stopped():
            message = "a process that this one needs has died, or could not start"
            raise click.ClickException(message) from error
        _silence_stdout()
        raise click.exceptions.Exit(ExitCode.PIPE_CLOSED) from None


def _reader_has_stopped() -> bool:
    """Whether the broken pipe is standard output."""
    if not hasattr(select, "poll"):
        return True  # Windows cannot tell
    asked = select.poll()
    asked.register(sys.stdout.fileno(), select.POLLOUT)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in asked.poll(0))


def _show(error: click.ClickException) -> None:
    """Show an error, which may quote input, with control characters escaped."""
    from vidscore_evaluators.names import escape_controls  # help has to be quick

    text = io.StringIO()
    error.show(text)
    # click indents choices by tabs.
    click.echo(escape_controls(text.getvalue(), but="\n\t"), nl=False, err=True)


def _open_missing_streams() -> None:
    """Replace streams that the caller has closed (``>&-``).

    Otherwise the next opened file would get the number of such a stream, and output to the stream
    would go into the file. Errors are then lost, and results cannot be written.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            # Opened for reading, standard output refuses what is written.
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            mode = "r" if name == "stdin" else "w"
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - stays
            setattr(sys, name, stream)


def _buffer_stdout() -> None:
    """Write results completely or fail, even if ``PYTHONUNBUFFERED`` is set, as in containers.

    Without a buffer, a write takes only what fits, and the rest would be lost silently.
    """
    if isinstance(getattr(sys.stdout, "buffer", None), io.RawIOBase):
        number, encoding = sys.stdout.fileno(), sys.stdout.encoding
        sys.stdout = open(number, "w", encoding=encoding, closefd=False)  # noqa: SIM115 - stays


class _UnfailingFile(io.FileIO):
    """Standard error, whose reader may go: what it cannot take is lost, and the work goes on."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def _outlast_stderr() -> None:
    """Let no message for people end a command: a terminal may be closed, a disk full."""
    own = sys.__stderr__
    if own is not None and sys.stderr is own:  # neither closed nor replaced
        file = io.BufferedWriter(_UnfailingFile(own.fileno(), "w", closefd=False))
        sys.stderr = io.TextIOWrapper(file, encoding=own.encoding, line_buffering=True)


def _make_streams_lenient() -> None:
    """Escape characters that the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _drop_unwritten() -> None:
    """Drop output that could not be written, which was reported; Python would report it again."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence_stdout()


def _silence_stdout() -> None:
    """Keep Python from flushing into the closed pipe again when it exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _print_version(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version

        click.echo(f"vidscore {version('vidscore')}")
        ctx.exit()


@click.group(
    cls=_Root,
    sections=SECTIONS,
    plug_ins=PLUG_INS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.option("--debug", is_flag=True, help="Show the traceback of an internal error.")
@click.pass_obj
def cli(session: Session, debug: bool) -> None:
    """Score the output of video detectors under the rules of a benchmark.

    Detections come from files or, frame by frame, from a live system; either way the scores are
    the same to the last bit. New here? Type: vidscore demo
    """
    session.debug = session.debug or debug


def main() -> NoReturn:
    """Run the command line and exit with its code."""
    # A short process ends before garbage is worth collecting. Imports would trigger a collection,
    # and the exit would run three.
    gc.set_threshold(GARBAGE_THRESHOLD)
    atexit.register(gc.freeze)
    cli.main(prog_name="vidscore")
    raise AssertionError("the command line always exits")

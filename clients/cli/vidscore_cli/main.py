"""The command line `vidscore`: its commands, and what becomes of their errors."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from vidscore_cli.command_tree import CommandTree
from vidscore_cli.exit_codes import ExitCode
from vidscore_cli.session import Session

SECTIONS = {
    "Getting started": {
        "demo": "vidscore_cli.commands.demo:demo",
        "evaluators": "vidscore_cli.commands.evaluators:evaluators",
        "completion": "vidscore_cli.commands.completion:completion",
    },
    "Files": {
        "score": "vidscore_cli.commands.score:score",
        "validate": "vidscore_cli.commands.validate:validate",
        "convert": "vidscore_cli.commands.convert:convert",
    },
    "Trust": {
        "trust": "vidscore_cli.commands.trust:trust",
    },
    "Hosted benchmarks": {
        "init": "vidscore_cli.commands.init:init",
        "benchmark": "vidscore_cli.commands.benchmark:benchmark",
        "submit": "vidscore_cli.commands.submit:submit",
        "submission": "vidscore_cli.commands.submission:submission",
        "leaderboard": "vidscore_cli.commands.leaderboard:leaderboard",
        "token": "vidscore_cli.commands.token:token",
        "login": "vidscore_cli.commands.login:login",
        "logout": "vidscore_cli.commands.logout:logout",
        "audit": "vidscore_cli.commands.audit:audit",
        "store": "vidscore_cli.commands.store:store",
        "backup": "vidscore_cli.commands.backup:backup",
        "restore": "vidscore_cli.commands.restore:restore",
    },
    "Live streams": {
        "serve": "vidscore_cli.commands.serve:serve",
        "stream": "vidscore_cli.commands.stream:stream",
        "health": "vidscore_cli.commands.health:health",
        "doctor": "vidscore_cli.commands.doctor:doctor",
    },
}


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
        _make_streams_lenient()
        os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # its notes of handshakes say nothing
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
            from vidscore_cli.failures import explain

            code = explain(error, session)
        sys.exit(code)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; ``help score`` is another way to ask for ``score --help``."""
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a reader who has gone away (``| head``) is no error."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence_stdout()
            return ExitCode.PIPE_CLOSED
        return result


def _show(error: click.ClickException) -> None:
    """Show an error, which may quote anybody, without what a terminal would obey."""
    from vidscore_evaluators.names import escape_controls  # help has to be quick

    text = io.StringIO()
    error.show(text)
    click.echo(escape_controls(text.getvalue(), but="\n"), nl=False, err=True)


def _make_streams_lenient() -> None:
    """Let a name that the terminal's encoding lacks be shown escaped rather than fail."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _silence_stdout() -> None:
    """Keep the interpreter from flushing into the closed pipe once more on its way out."""
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
    cli.main(prog_name="vidscore")
    raise AssertionError("the command line always exits")

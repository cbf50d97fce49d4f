"""Commands in sections, each imported when it is called; plug-ins add further ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vidscore_cli.unwritable import naming_stdout

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OTHER_WORDS = {
    **dict.fromkeys(("--gt", "--ground-truth", "--groundtruth", "--reference"), "--truth"),
    **dict.fromkeys(
        ("--pred", "--preds", "--predictions", "--dets", "--dt", "--results"), "--detections"
    ),
}
"""Options of these commands by their names in other tools."""

DASHES = "-\u2013\u2014"
"""First characters of options, as typed; text processors turn two hyphens into a long dash."""

EXTRAS = {
    "server": ("alembic", "grpc_health", "grpc_reflection", "prometheus_client", "sqlalchemy"),
    "web": ("jinja2", "starlette", "uvicorn"),
}
"""Packages that come with an extra of the distribution."""

PLUG_INS = "Plug-ins"
"""Heading of the commands that other distributions add."""


class Entry(NamedTuple):
    """Where a command, or a part of one, is declared.

    Attributes:
        target: ``module:object``.
        help: Its line in a list of commands; empty to ask the command itself, which imports it.
        extra: Extra of the distribution without which the module cannot be imported.
    """

    target: str
    help: str = ""
    extra: str = ""

    def load(self, name: str) -> Any:
        """Import the object.

        Args:
            name: What users call it.

        Raises:
            click.UsageError: If the extra that it needs is not installed.
        """
        if any(find_spec(package) is None for package in EXTRAS.get(self.extra, ())):
            raise click.UsageError(
                f"vidscore {name} needs the extra {self.extra}: "
                f"pip install 'vidscore[{self.extra}]'"
            )
        module, attribute = self.target.split(":")
        return getattr(import_module(module), attribute)


Sections = Mapping[str, Mapping[str, Entry]]
"""Heading -> name of a command -> where it is declared."""


class ConnectionOption(click.Option):
    """An option about the connection to a server, shared by all commands that talk to one."""


class _Helping(click.Command):
    """A command that names standard output if its help cannot be written."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse the words; answer requests for help or the version."""
        with naming_stdout():
            return super().make_context(*args, **extra)


class Command(_Helping):
    """A command whose help lists connection options separately, and ends with examples.

    Args:
        examples: Command lines, each beginning with ``vidscore``.
    """

    def __init__(self, *args: Any, examples: Sequence[str], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words; an option of another tool, or with other dashes, gets a suggestion.

        Raises:
            click.UsageError: If a word is wrong, or a path is empty, for example because a variable
                is not set: an empty path would mean the working folder.
        """
        given, words = list(args), [word.partition("=")[0] for word in args]
        try:
            rest = super().parse_args(ctx, args)
        except (click.NoSuchOption, click.MissingParameter) as error:
            own = {option for parameter in self.params for option in parameter.opts}
            for word in words:
                meant = OTHER_WORDS.get(word, f"--{word.lstrip(DASHES)}")
                if word[:1] in DASHES and word != meant in own:
                    said = f"No such option {word!r}; did you mean {meant}?"
                    raise click.UsageError(said, ctx=error.ctx) from None
            raise
        _, _, order = self.make_parser(ctx).parse_args(given)
        for parameter in self.params:
            if isinstance(parameter.type, click.Path):
                _check_paths(ctx, parameter, order.count(parameter))
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command in a process that keeps freed arrays for reuse."""
        from vidscore_evaluators.runtime import tune_malloc  # help has to be quick

        tune_malloc()
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then those of the connection."""
        own: list[tuple[str, str]] = []
        connection: list[tuple[str, str]] = []
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row is not None:
                (connection if isinstance(option, ConnectionOption) else own).append(row)
        for heading, rows in (("Options", own), ("Connection", connection)):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, unwrapped so that they can be copied."""
        del ctx
        with formatter.section("Examples"):
            for example in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")


def _check_paths(ctx: click.Context, parameter: click.Parameter, times: int) -> None:
    """Refuse an empty path, and a repeated one, of which click would take only the last.

    Raises:
        click.BadParameter: If there is one.
    """
    typed = ctx.params.get(parameter.name or "")
    if "" in (typed if isinstance(typed, tuple) else (typed,)):
        said = "an empty name, expected the path of a file or folder"
        raise click.BadParameter(said, ctx=ctx, param=parameter)
    if times > 1 and not parameter.multiple:
        raise click.BadParameter("given twice, expected once", ctx=ctx, param=parameter)


class CommandTree(click.Group, _Helping):
    """A group that knows where its commands are and imports them on demand.

    Args:
        sections: Its commands under headings, in the order of the help.
        plug_ins: Group of entry points, each of which is a further command; empty for none.
    """

    def __init__(self, *args: Any, sections: Sections, plug_ins: str = "", **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._own = {name: entry for part in sections.values() for name, entry in part.items()}
        self._sections = sections
        self._group = plug_ins

    @cached_property
    def _plug_ins(self) -> dict[str, EntryPoint]:
        return self.find_plug_ins()

    def find_plug_ins(self) -> dict[str, EntryPoint]:
        """Commands of other distributions, by name; they cannot replace our own."""
        from importlib import metadata  # slow to import, and no command of ours needs it

        points = metadata.entry_points(group=self._group) if self._group else ()
        return {point.name: point for point in sorted(points) if point.name not in self._own}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words up to the name of a command; options of a command go after its name."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.possibilities or isinstance(self, Command):
                raise
            advice = "the options of a command go after its name"
            said = f"No such option {error.option_name!r} here; {advice}"
            raise click.UsageError(said, ctx=error.ctx) from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, in the order of the help."""
        del ctx
        return [*self._own, *self._plug_ins]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None if there is none of that name."""
        found: click.Command | None = None
        if cmd_name in self._own:
            found = self._own[cmd_name].load(f"{ctx.command_path} {cmd_name}".partition(" ")[2])
        elif cmd_name in self._plug_ins:
            found = _load(self._plug_ins[cmd_name])
        return found

    def leaves(self, ctx: click.Context) -> list[str]:
        """Every command that does something, with the groups that lead to it."""
        paths = []
        for name in self.list_commands(ctx):
            found = self.get_command(ctx, name)
            itself = [""] if isinstance(found, Command) else []
            below = found.leaves(ctx) if isinstance(found, CommandTree) else []
            paths += [f"{name} {path}".strip() for path in [*itself, *below]]
        return paths

    def find(self, path: str) -> click.Command | None:
        """The command at a path of names, such as ``benchmark create``; None if there is none."""
        found: click.Command | None = self
        for name in path.split():
            found = (
                found.get_command(click.Context(self), name)
                if isinstance(found, CommandTree)
                else None
            )
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped name gets a suggestion."""
        is_name = not args[0].startswith("-") and not ctx.resilient_parsing
        if is_name and args[0] not in self._own and args[0] not in self._plug_ins:
            from vidscore_evaluators.names import name_advice

            advice = name_advice(args[0], self.list_commands(ctx))
            ctx.fail(f"unknown command {args[0]!r}; {advice}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; an unexpected error of another distribution's command names that.

        Raises:
            PlugInError: In place of such an error.
        """
        try:
            return super().invoke(ctx)
        except Exception as error:
            point = self._plug_ins.get(ctx.invoked_subcommand or "")
            if point is None or point.dist is None or not _is_unexpected(error):
                raise
            from vidscore_evaluators.errors import PlugInError

            problem = f"{type(error).__name__}: {error}"
            what = f"the command {point.name!r}"
            raise PlugInError(what, point.dist.name, problem) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, in one column for all."""
        names = self.list_commands(ctx)
        width = max(len(name) for name in names)
        plug_ins = {PLUG_INS: self._plug_ins} if self._plug_ins else {}
        for heading, entries in {**self._sections, **plug_ins}.items():
            rows = [(name.ljust(width), self._short_help(ctx, name)) for name in entries]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in self._own and self._own[name].help:
            return self._own[name].help
        try:
            found = self.get_command(ctx, name)
        except click.UsageError as error:
            return error.message
        return "" if found is None else found.get_short_help_str(limit=100)


def _load(point: EntryPoint) -> click.Command:
    """A command of another distribution.

    Raises:
        click.UsageError: If it cannot be imported, or is not a command.
    """
    try:
        found = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
        reason = f"{type(error).__name__}: {error}"
    else:
        if isinstance(found, click.Command):
            return found
        reason = f"{point.value} is not a command of click"
    whose = "" if point.dist is None else f" of {point.dist.name}"
    raise click.UsageError(f"the plug-in {point.name}{whose} cannot be used: {reason}")


def _is_unexpected(error: Exception) -> bool:
    """Whether an error is a bug: neither of click, of an input, nor of the system."""
    from vidscore_evaluators.errors import PlugInError, VidscoreError

    known = (click.ClickException, click.Abort, click.exceptions.Exit, OSError)
    return not isinstance(error, (*known, VidscoreError, PlugInError))


class ActingTree(CommandTree, Command):
    """A group that does something if none of its commands is named.

    Args:
        sections: Its commands, as for a `CommandTree`.
        examples: Command lines, as for a `Command`.
    """


def command(name: str, *, examples: Sequence[str]) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command; its function's docstring is its help.

    Args:
        name: What users type.
        examples: Command lines for the end of the help, each beginning with ``vidscore``.
    """
    return click.command(name, cls=Command, examples=examples)

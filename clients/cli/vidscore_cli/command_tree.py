"""Commands in sections, each imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

OTHER_WORDS = {
    **dict.fromkeys(("--gt", "--ground-truth", "--groundtruth", "--reference"), "--truth"),
    **dict.fromkeys(("--pred", "--preds", "--predictions", "--dets", "--results"), "--detections"),
}
"""What other tools call options of these commands."""

Sections = Mapping[str, Mapping[str, str]]
"""Heading -> name of a command -> ``module:object`` that declares it."""


class ConnectionOption(click.Option):
    """An option that says how to reach a server, as all commands that talk to one have it."""


class Command(click.Command):
    """A command whose help has the connection apart, and ends in examples that run as they stand.

    Args:
        examples: Command lines, each beginning with ``vidscore``.
    """

    def __init__(self, *args: Any, examples: Sequence[str], **extra: Any) -> None:
        super().__init__(*args, **extra)
        self.examples = tuple(examples)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words; an option that other tools have gets this one's as a suggestion."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            own = {option for parameter in self.params for option in parameter.opts}
            meant = OTHER_WORDS.get(error.option_name)
            if meant not in own:
                raise
            said = f"No such option {error.option_name!r}; did you mean {meant}?"
            raise click.UsageError(said, ctx=error.ctx) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command in a process that keeps freed arrays for reuse."""
        from vidscore_evaluators.runtime import tune_malloc  # help has to be quick

        tune_malloc()
        return super().invoke(ctx)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what is the command's own, then how to reach a server."""
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


class CommandTree(click.Group):
    """A group that knows where its commands are and imports them when asked.

    Args:
        sections: Its commands under headings, in the order of the help.
    """

    def __init__(self, *args: Any, sections: Sections, **extra: Any) -> None:
        super().__init__(*args, **extra)
        self._sections = sections

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, in the order of the help."""
        del ctx
        return [name for entries in self._sections.values() for name in entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None where there is none of that name."""
        del ctx
        for entries in self._sections.values():
            if cmd_name in entries:
                module, attribute = entries[cmd_name].split(":")
                found: click.Command = getattr(import_module(module), attribute)
                return found
        return None

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
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-") and not ctx.resilient_parsing:
            from vidscore_evaluators.names import name_advice

            ctx.fail(f"no command is called {args[0]!r}; {name_advice(args[0], known)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, in one column for all."""
        names = self.list_commands(ctx)
        width = max(len(name) for name in names)
        for heading, entries in self._sections.items():
            rows = [(name.ljust(width), self._short_help(ctx, name)) for name in entries]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        found = self.get_command(ctx, name)
        return "" if found is None else found.get_short_help_str(limit=100)


class ActingTree(CommandTree, Command):
    """A group that does something where none of its commands is named.

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

"""`vidscore completion`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from vidscore_cli.command_tree import command
from vidscore_cli.output import STDOUT, deliver

COMPLETE_VARIABLE = "_VIDSCORE_COMPLETE"

INSTRUCTIONS = {
    "bash": 'put  eval "$(vidscore completion bash)"  into ~/.bashrc',
    "zsh": 'put  eval "$(vidscore completion zsh)"  into ~/.zshrc, after compinit',
    "fish": "run  vidscore completion fish > ~/.config/fish/completions/vidscore.fish",
}


@command("completion", examples=("vidscore completion bash", "vidscore completion fish"))
@click.argument("shell", type=click.Choice(list(INSTRUCTIONS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that lets a shell complete commands and options."""
    found = get_completion_class(shell)
    if found is None:
        raise AssertionError(f"click knows no {shell}")
    script = found(ctx.find_root().command, {}, "vidscore", COMPLETE_VARIABLE).source()
    deliver(f"# To switch completion on, {INSTRUCTIONS[shell]}\n{script}", STDOUT)

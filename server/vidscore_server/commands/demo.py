"""`vidscore demo`: the main job from end to end, with simulated systems and a real server."""

from __future__ import annotations

from pathlib import Path

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import NumberRange

WEB_ADDRESS = "127.0.0.1:8080"
"""Default address of the site."""


@command(
    "demo",
    examples=("vidscore demo", "vidscore demo --speed 100 --seed 1", "vidscore demo --web"),
)
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**32 - 1),
    default=1,
    show_default=True,
    help="Seed of the simulation; the same seed gives the same scores.",
)
@click.option(
    "--speed",
    type=NumberRange(min=0.1, max=1000.0),
    default=4.0,
    show_default=True,
    help="Speed of the videos, relative to real time.",
)
@click.option(
    "--files",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Write the truth and the detections to this folder, as generic CSV.",
)
@click.option(
    "--web",
    metavar="HOST:PORT",
    is_flag=False,
    flag_value=WEB_ADDRESS,
    help="Show the competition on a site until Ctrl-C, at this address. "
    f"[default without a value: {WEB_ADDRESS}]",
)
def demo(seed: int, speed: float, files: str | None, web: str | None) -> None:
    """Watch two simulated detectors compete in hosted benchmarks, live.

    Starts a real server on this machine, hosts two benchmarks on it, streams the detections of two
    simulated systems to it frame by frame, cuts one connection and lets it resume by itself, shows
    live scores, final scores and leaderboards, and checks that the same detections scored without a
    server give the same reports to the last bit. It ends with commands to try next.
    """
    from vidscore_cli.demo.contest import demonstrate, show_site
    from vidscore_server.domain.administration import initialise

    def make_store(store: Path) -> str:
        return initialise(store).secret

    if web is None:
        demonstrate(seed, speed, None if files is None else Path(files), make_store)
    elif files is None:
        import vidscore_server.hosted_site  # noqa: F401 - whose extra may be missing

        show_site(seed, speed, web, make_store)
    else:
        raise click.UsageError("--files cannot be used with --web, which writes no files")

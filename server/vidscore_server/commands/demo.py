"""`vidscore demo`: the main job from end to end, with simulated systems and a real server."""

from __future__ import annotations

from pathlib import Path

import click

from vidscore_cli.command_tree import command


@command("demo", examples=("vidscore demo", "vidscore demo --speed 100 --seed 1"))
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=2**32 - 1),
    default=1,
    show_default=True,
    help="Seed of the simulation; the same seed gives the same scores.",
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0.1, max=1000.0),
    default=4.0,
    show_default=True,
    help="How many times faster than real time the videos run.",
)
@click.option(
    "--files",
    metavar="FOLDER",
    type=click.Path(file_okay=False),
    help="Write the truth and the detections to this folder, as generic CSV.",
)
def demo(seed: int, speed: float, files: str | None) -> None:
    """Watch two simulated detectors compete in hosted benchmarks, live.

    Starts a real server on this machine, hosts two benchmarks on it, streams the detections of two
    simulated systems to it frame by frame, cuts one connection and lets it go on by itself, shows
    live scores, final scores and leaderboards, and checks that the same detections scored without
    a server give the same reports to the last bit. It ends with commands to go on with.
    """
    from vidscore_cli.demo.contest import demonstrate
    from vidscore_server.domain.administration import initialise

    folder = None if files is None else Path(files)
    demonstrate(seed, speed, folder, lambda store: initialise(store).secret)

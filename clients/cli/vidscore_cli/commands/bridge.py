"""`vidscore bridge`: from what running systems publish into a submission."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import (
    all_faults_option,
    on_error_option,
    server_options,
    size_option,
)
from vidscore_evaluators.errors import Fault


def _complete_schema(*_: object) -> list[str]:
    from vidscore_evaluators.feeds import schema_names

    return list(schema_names())


@command(
    "bridge",
    examples=(
        "vidscore bridge detections.jsonl --schema jsonl --benchmark sky",
        "vidscore bridge drive.mcap --schema vision-msgs --topic /detections --benchmark sky",
        "vidscore bridge --sources sources.toml --benchmark sky --submission falcon",
    ),
)
@click.argument("source", metavar="[SOURCE]", required=False)
@click.option(
    "--sources", metavar="FILE", type=click.Path(readable=False), help="Several sources, in TOML."
)
@click.option("--benchmark", metavar="BENCHMARK", required=True, help="Benchmark to submit to.")
@click.option(
    "--submission",
    metavar="NAME",
    help="Submission to begin or to continue; by default a new one with a random name.",
)
@click.option("--title", metavar="TEXT", default="", help="Title of a new submission.")
@click.option(
    "--schema", metavar="NAME", shell_complete=_complete_schema, help="Schema of the messages."
)
@click.option(
    "--sequence",
    "sequences",
    metavar="SENSOR=SEQUENCE",
    multiple=True,
    help="Sequence of a sensor or topic, * for all others; may be repeated.",
)
@click.option(
    "--topic",
    "topics",
    metavar="TOPIC",
    multiple=True,
    help="Topic of a recording; may be repeated. By default all topics with messages of "
    "the schema.",
)
@click.option(
    "--rate-hz",
    metavar="NUMBER",
    type=float,
    help="Frames per second, to compute frame numbers from times.",
)
@click.option(
    "--start-s", metavar="SECONDS", type=float, default=0.0, help="Time of the first frame."
)
@size_option("--size", "Size of the images of the truth, such as 1920x1080.")
@click.option(
    "--accept",
    metavar="DOUBT",
    multiple=True,
    help="Score despite this doubt; may be repeated.",
)
@click.option(
    "--spool",
    metavar="FILE",
    default="",
    help="File in which datagrams, and MQTT messages of QoS 0, wait for the server.",
)
@on_error_option()
@server_options()
@all_faults_option()
def bridge(**typed: Any) -> None:
    """Take detections from a running system, and submit them to a benchmark.

    SOURCE is a file, a recording in MCAP or of ROS 2, - for standard input, or an address:
    tcp://host:port and unix:///path listen for connections, udp://host:port for datagrams;
    mqtt://host/topic, nats://host/stream and kafka://host/topic read from a broker, whose secrets
    are in files or the environment, which a file of --sources names. A frame is identified by its
    sensor and its number or time. Frames become durable together with the position of the source,
    and are acknowledged to the source only then: nothing is lost or counted twice if the bridge,
    the broker or the server is killed. When all sources have ended, the submission is sealed. The
    exit code is 3 if messages were lost.
    """
    from vidscore_cli.bridge.choices import read_sources
    from vidscore_cli.bridge.running import BridgeChoices, run_bridge

    if (typed["source"] is None) == (typed["sources"] is None):
        raise click.UsageError("name one SOURCE, or several with --sources")
    if typed["sources"] is not None:
        sources = read_sources(Path(typed["sources"]))
    elif typed["schema"] is None:
        raise click.UsageError("SOURCE needs --schema")
    else:
        sources = [_only_source(typed)]
    common = {
        name: typed[name] for name in ("server", "benchmark", "submission", "title", "on_error")
    }
    run_bridge(BridgeChoices(sources=sources, sources_file=typed["sources"], **common))


def _only_source(typed: dict[str, Any]) -> Any:
    from vidscore_cli.bridge.choices import checked_choice

    faults: list[Fault] = []
    sequences = dict(entry.partition("=")[::2] for entry in typed["sequences"])
    given: dict[str, Any] = {
        "url": typed["source"],
        "schema": typed["schema"],
        "name": "bridge",
        "sequences": sequences,
        "start_s": typed["start_s"],
        "topics": list(typed["topics"]),
        "accept": list(typed["accept"]),
        "spool": typed["spool"],
    }
    if typed["rate_hz"] is not None:
        given["rate_hz"] = typed["rate_hz"]
    if typed["size"] is not None:
        given["size"] = list(typed["size"])
    choice = checked_choice(given, "", faults)
    if faults:
        raise click.UsageError("\n".join(map(_in_typed_words, faults)))
    return choice


def _in_typed_words(fault: Fault) -> str:
    """A fault of a source's key, in terms of the option."""
    key, _, sensor = (fault.field or "").partition(".")
    word = {"url": "SOURCE", "sequences": f"--sequence {sensor}"}.get(key)
    return f"{word or '--' + key.replace('_', '-')}: {fault.description}"

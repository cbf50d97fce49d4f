"""The command line of the runner."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from vidscore_client import Batching, Client, Delivery, Keepalive, Retry, Tls, connect

BATCHING = {
    "batch_frames": int,
    "batch_interval_s": float,
    "queue_frames": int,
    "policy": str,
    "block_timeout_s": float,
}
DELIVERY = {"window_frames": int, "acknowledge_timeout_s": float, "close_timeout_s": float}
KEEPALIVE = {"keepalive_interval_s": float, "keepalive_timeout_s": float}
RETRY = {"retry_initial_s": float, "retry_maximum_s": float, "give_up_after_s": float}


def parse() -> Namespace:
    """Read the command line; a wrong one ends the process with code 2."""
    parser = ArgumentParser(prog="runner")
    add_commands(parser)
    return parser.parse_args()


def add_commands(parser: ArgumentParser) -> dict[str, ArgumentParser]:
    """Add every command with its options to a parser; return the parser of each."""
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("version")
    _connected(commands.add_parser("evaluators"))
    _connected(commands.add_parser("health")).add_argument("--linger-s", type=float, default=0.0)
    _score(_connected(commands.add_parser("score")))
    _submit(_connected(commands.add_parser("submit")))
    for name in ("get", "cancel"):
        _connected(commands.add_parser(name)).add_argument("--submission", required=True)
    watch = _connected(commands.add_parser("watch"))
    watch.add_argument("--submission", required=True)
    watch.add_argument("--until-ended", action="store_true")
    _connected(commands.add_parser("leaderboard")).add_argument("--benchmark", required=True)
    return commands.choices


def client_of(arguments: Namespace) -> Client:
    """Connect by the common options."""
    tls: bool | Tls = False
    if arguments.ca is not None:
        tls = Tls(arguments.ca, arguments.certificate, arguments.key, arguments.server_name)
    said = _said(arguments, KEEPALIVE)
    keepalive = {name.removeprefix("keepalive_"): value for name, value in said.items()}
    return connect(
        arguments.address,
        tls=tls,
        token=arguments.token,
        timeout_s=arguments.timeout_s,
        keepalive=Keepalive(**keepalive),
    )


def batching_of(arguments: Namespace) -> Batching:
    """Batching of frames; missing options keep the SDK's defaults."""
    return Batching(**_said(arguments, BATCHING))


def delivery_of(arguments: Namespace, **more: Any) -> Delivery:
    """Delivery of frames, likewise."""
    said = _said(arguments, RETRY)
    retry = Retry(**{name.removeprefix("retry_"): value for name, value in said.items()})
    return Delivery(**_said(arguments, DELIVERY), retry=retry, unary=arguments.unary, **more)


def _said(arguments: Namespace, names: Mapping[str, object]) -> dict[str, Any]:
    values = {name: getattr(arguments, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _connected(parser: ArgumentParser) -> ArgumentParser:
    parser.add_argument("--address", required=True)
    for name in ("token", "ca", "certificate", "key", "server-name"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--timeout-s", type=float, default=10.0)
    for name, kind in KEEPALIVE.items():
        parser.add_argument("--" + name.replace("_", "-"), type=kind)
    return parser


def _score(parser: ArgumentParser) -> None:
    parser.add_argument("--frames", required=True)
    parser.add_argument("--batch-frames", type=int)
    parser.add_argument("--live-every-frames", type=int, default=0)
    parser.add_argument("--deadline-s", type=float)
    parser.add_argument("--cancel-after-frames", type=int)


def _submit(parser: ArgumentParser) -> None:
    for name in ("benchmark", "submission", "frames"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--stream", default="default")
    parser.add_argument("--title", default="")
    for name in ("replay", "unary", "no-seal", "close"):
        parser.add_argument(f"--{name}", action="store_true")
    for name, kind in {**BATCHING, **DELIVERY, **RETRY}.items():
        parser.add_argument("--" + name.replace("_", "-"), type=kind)
    parser.add_argument("--rate-hz", type=float)
    parser.add_argument("--die-after-acknowledged", type=int)
    parser.add_argument("--wait-s", type=float, default=60.0)

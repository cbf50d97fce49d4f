"""The checker of histories: Porcupine, with a model of offsets and epochs, as a Go program."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.support.requirements import missing
from tests.support.tree import ROOT

MODULE = Path(__file__).with_name("linearizable")
BUILT = ROOT / "build/campaigns"
TIMEOUT_S = 600.0
LINEARIZABLE = "Ok"


@dataclass
class Call:
    """A call of a client, with its answer.

    Attributes:
        client: The client.
        start: When it began, by a counter that all clients share.
        end: When it ended; after all others if it broke, since it may take effect at any time.
        kind: ``open``, ``append``, ``get``, ``seal`` or ``cancel``.
        stream: The stream.
        epoch: Epoch of an append.
        offset: Offset of an append.
        frames: Frames of an append.
        count: Frames that a seal expects; below 0: any.
        told: ``ok``, the reason of a refusal, or ``unknown``.
        next_offset: The stream's end, by the answer.
        told_epoch: The epoch, by the answer.
        total: Frames of the submission, by the answer.
    """

    client: int
    start: int
    kind: str
    stream: str = ""
    epoch: int = 0
    offset: int = 0
    frames: tuple[int, ...] = ()
    count: int = -1
    end: int = 0
    told: str = "unknown"
    next_offset: int = 0
    told_epoch: int = 0
    total: int = 0


def verdicts(histories: Sequence[Sequence[Call]]) -> list[bool]:
    """Whether each history is linearizable."""
    lines = "".join(json.dumps([asdict(call) for call in history]) + "\n" for history in histories)
    done = subprocess.run(
        [str(_program())],
        input=lines,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    said = done.stdout.split()
    assert len(said) == len(histories), done.stderr
    return [word == LINEARIZABLE for word in said]


def check_model() -> None:
    """Run the tests of the model, which check it against histories made by hand."""
    _need_go()
    subprocess.run(["go", "test", "."], cwd=MODULE, timeout=TIMEOUT_S, check=True)


def _need_go() -> None:
    if shutil.which("go") is None:
        missing("Go is not installed: the histories are checked by a Go module")


def _program() -> Path:
    """The program; rebuilt if its sources have changed."""
    _need_go()
    sources = sorted(path for path in MODULE.iterdir() if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    program = BUILT / f"linearizable-{digest}"
    if not program.is_file():
        BUILT.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "build", "-o", str(program), "."], cwd=MODULE, check=True)
    return program

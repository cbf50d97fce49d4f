"""What is given to a target, and the law that it is held to.

The law is the same everywhere: an input gives a result, or an error of vidscore that names a place
and says what is wrong, and never anything else; what can be written reads again as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from random import Random

from tests.campaigns.fuzzing.changing import Change, of_bytes
from tests.campaigns.fuzzing.trees import Tree, packed, unpacked

from vidscore_evaluators.errors import Fault, InputError, VidscoreError

FILES = "inputs of file readers"
MESSAGES = "inputs of message readers"
KEPT = "inputs of readers of what was kept"
"""What targets are counted as in the record."""

SPLICED = 0.05
"""Share of changes that put a file of another input into the place of one."""


@dataclass(frozen=True)
class Target:
    """Something that reads what others have made.

    Attributes:
        name: Its name; of its findings' folders, too.
        counted_as: What its inputs are in the record.
        seeds: Inputs that are good, to begin with.
        changes: How its files are changed, by how their names end; the empty ending is any.
        read: Reads an input, in a folder that it may write to, and holds the law.
    """

    name: str
    counted_as: str
    seeds: Callable[[], Iterable[Tree]]
    changes: Mapping[str, Change]
    read: Callable[[Tree, Path], None]

    def change_of(self, name: str) -> Change:
        """How a file of that name is changed."""
        return self.changes.get(PurePosixPath(name).suffix, self.changes[""])


def changed(target: Target, pool: list[dict[str, bytes]], data: bytes, seed: int) -> bytes:
    """An input with a few changes.

    Args:
        target: Its target.
        pool: The target's seeds.
        data: The input.
        seed: What all chance follows from.
    """
    chance = Random(seed)
    files = unpacked(data) or dict(chance.choice(pool))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        if not files:
            files = dict(chance.choice(pool))
        name = chance.choice(list(files))
        if chance.random() < SPLICED:
            other = chance.choice(pool)
            files[name] = other[chance.choice(list(other))]
        elif len(files) > 1 and chance.random() < SPLICED:
            renamed = _renamed(name, chance)
            files[renamed] = files.pop(name)
        else:
            files[name] = target.change_of(name)(files[name], chance)
    return packed(files)


def _renamed(name: str, chance: Random) -> str:
    """Another name in the same side of the input."""
    side, slash, rest = name.partition("/")
    text = of_bytes(rest.encode(), chance).decode(errors="ignore")
    return f"{side}{slash}{text}"


def judged(target: Target, files: Tree, folder: Path) -> bool:
    """Let a target read an input; whether it was accepted.

    Raises:
        AssertionError: If the law is broken by a result, or by an error that says nothing.
        Exception: Whatever else reading ends with, which breaks the law as well.
    """
    try:
        target.read(files, folder)
    except InputError as error:
        _hold_faults(error.faults)
        return False
    except VidscoreError as error:
        _hold(bool(str(error)), "an error without a text")
        return False
    return True


def _hold_faults(faults: Sequence[Fault]) -> None:
    _hold(bool(faults), "an error without a fault")
    for fault in faults:
        _hold(bool(fault.place), f"a fault without a place: {fault}")
        _hold(bool(fault.found), "a fault that says nothing")


def _hold(holds: bool, otherwise: str) -> None:
    assert holds, otherwise

"""Fuzz targets, and the law that each must keep.

The law is the same everywhere: an input gives a result, or an error of vidscore that names a place
and the fault, and never anything else; what can be written reads as the same again.
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
"""The group of these targets in the record."""

SPLICED = 0.05
"""Fraction of mutations that replace a file by that of another input."""


@dataclass(frozen=True)
class Target:
    """Code that reads the data of others.

    Attributes:
        name: Its name, and that of its folders of findings.
        counted_as: The group that its inputs are counted under in the record.
        seeds: Valid inputs to start from.
        changes: Mutations by the ending of a file name; the empty ending matches any name.
        read: Reads an input, may write to the given folder, and checks the law.
    """

    name: str
    counted_as: str
    seeds: Callable[[], Iterable[Tree]]
    changes: Mapping[str, Change]
    read: Callable[[Tree, Path], None]

    def change_of(self, name: str) -> Change:
        """The mutation of files of that name."""
        return self.changes.get(PurePosixPath(name).suffix, self.changes[""])


def changed(target: Target, pool: list[dict[str, bytes]], data: bytes, seed: int) -> bytes:
    """A copy of an input with a few mutations.

    Args:
        target: Its target.
        pool: The target's seeds.
        data: The input.
        seed: Seed of all randomness.
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
    """Another name on the same side of the input."""
    side, slash, rest = name.partition("/")
    text = of_bytes(rest.encode(), chance).decode(errors="ignore")
    return f"{side}{slash}{text}"


def judged(target: Target, files: Tree, folder: Path) -> bool:
    """Let a target read an input; returns whether it was accepted.

    Raises:
        AssertionError: If a result, or an error without information, breaks the law.
        Exception: Any other error of reading, which breaks the law too.
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

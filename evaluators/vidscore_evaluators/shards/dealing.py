"""Dealing: the shard of a sequence, or of a part of a cut one, determined by its name alone.

The number of a sequence's shard is 1 more than the remainder of a hash of its domain and name by
the number of shards: BLAKE2b with eight bytes over ``domain NUL name`` in UTF-8, read as a
big-endian integer. It depends neither on the data nor on the other sequences, so each shard
finds its part without the others, and an added sequence changes only one shard. A cut sequence
has parts with a fixed number of frame numbers; for part P, from 0, ``NUL P`` is hashed as well.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.evaluator import Evaluator, Unit
from vidscore_evaluators.formats.source import parts_of_frames

SHARDS = 64
"""Default number of shards: enough to balance sequences over a few dozen workers."""

MAXIMUM_SHARDS = 65_536
"""Maximum number of shards of a scoring."""

_EXPECTED = f"K/N: shard K of N, from 1/N to N/N, at most {MAXIMUM_SHARDS} in all"
_TYPED = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


class Shard(Struct, frozen=True, order=True):
    """One of the shards of a scoring.

    Attributes:
        number: Its number, from 1.
        count: Number of shards.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse an impossible shard.

        Raises:
            ParameterError: If there is no such shard.
        """
        if not 1 <= self.number <= self.count <= MAXIMUM_SHARDS:
            raise ParameterError([Fault(str(self), _EXPECTED, field="shard")])

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse the name of a shard, such as ``3/64``.

        Raises:
            ParameterError: If it is not such a name.
        """
        found = _TYPED.fullmatch(text)
        if found is None:
            raise ParameterError([Fault(repr(text)[:80], _EXPECTED, field="shard")])
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def all_of(cls, count: int) -> list[Shard]:
        """Every shard, in order.

        Raises:
            ParameterError: If the number is impossible.
        """
        return [cls(number, count) for number in range(1, cls(1, count).count + 1)]

    def __str__(self) -> str:
        """``3/64``."""
        return f"{self.number}/{self.count}"


def shard_number(key: SequenceKey, count: int, part: int | None = None) -> int:
    """The number of the shard that a sequence belongs to.

    Args:
        key: The sequence.
        count: Number of shards.
        part: Its part, if it is cut.
    """
    names = key if part is None else (*key, str(part))
    digest = hashlib.blake2b("\0".join(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count + 1


def check_cut(evaluators: Sequence[Evaluator[Any]], cut_frames: int | None) -> None:
    """Refuse to cut sequences for evaluators that score them as wholes.

    Args:
        evaluators: The evaluators.
        cut_frames: Number of frame numbers of a part; None if sequences stay whole.

    Raises:
        ParameterError: If one of them does, or the number is invalid.
    """
    if cut_frames is None:
        return
    if cut_frames < 1:
        raise ParameterError([Fault(str(cut_frames), "at least 1", field="cut_frames")])
    faults = [
        Fault(
            f"{evaluator.name}, which judges whole sequences",
            "evaluators that judge frame by frame",
            field="cut_frames",
            advice="leave its sequences whole, or score it by itself",
        )
        for evaluator in evaluators
        if evaluator.unit is Unit.SEQUENCE
    ]
    if faults:
        raise ParameterError(faults)


def shards_of_frames(
    side: Annotations, count: int, cut_frames: int | None = None
) -> NDArray[np.int32]:
    """(F,) number of the shard of each frame of a side.

    Args:
        side: Truth or detections.
        count: Number of shards.
        cut_frames: Number of frame numbers of a part of a sequence; None if sequences are whole.
    """
    if cut_frames is not None:
        parts, place = parts_of_frames(side.frame_sequences, side.frame_numbers, cut_frames)
        dealt = [shard_number(side.sequences[row], count, part) for row, part in parts]
        cut: NDArray[np.int32] = np.array(dealt, dtype=np.int32)[place]
        return cut
    numbers = np.array([shard_number(key, count) for key in side.sequences], dtype=np.int32)
    of_frames: NDArray[np.int32] = numbers[side.frame_sequences]
    return of_frames

"""Dealing: which shard a sequence belongs to, by its name alone.

The number of a sequence's shard is 1 more than the remainder of a hash of its domain and name by
the number of shards: BLAKE2b with eight bytes over ``domain NUL name`` in UTF-8, read as a
big-endian integer. It depends neither on the data nor on the other sequences, so that each shard
finds its part without the others and a sequence that is added changes one shard only.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import Fault, ParameterError

SHARDS = 64
"""Shards where nobody says how many: enough to balance sequences over a few dozen workers."""

MAXIMUM_SHARDS = 65_536
"""Most shards of a scoring."""

_EXPECTED = f"K/N: shard K of N, from 1/N to N/N, at most {MAXIMUM_SHARDS} in all"
_TYPED = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True, order=True)
class Shard:
    """One of the shards of a scoring.

    Attributes:
        number: Which one, from 1.
        count: How many there are.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        """Refuse a shard that there cannot be.

        Raises:
            ParameterError: If there is no such shard.
        """
        if not 1 <= self.number <= self.count <= MAXIMUM_SHARDS:
            raise ParameterError([Fault(str(self), _EXPECTED, field="shard")])

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that ``3/64`` names.

        Raises:
            ParameterError: If it names none.
        """
        found = _TYPED.fullmatch(text)
        if found is None:
            raise ParameterError([Fault(repr(text)[:80], _EXPECTED, field="shard")])
        return cls(int(found[1]), int(found[2]))

    @classmethod
    def all_of(cls, count: int) -> list[Shard]:
        """Every shard, in order.

        Raises:
            ParameterError: If there cannot be so many.
        """
        return [cls(number, count) for number in range(1, cls(1, count).count + 1)]

    def __str__(self) -> str:
        """``3/64``."""
        return f"{self.number}/{self.count}"


def shard_number(key: SequenceKey, count: int) -> int:
    """The number of the shard that a sequence belongs to.

    Args:
        key: The sequence.
        count: How many shards there are.
    """
    digest = hashlib.blake2b("\0".join(key).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % count + 1


def shards_of_frames(side: Annotations, count: int) -> NDArray[np.int32]:
    """(F,) number of the shard of each frame of a side.

    Args:
        side: Truth or detections.
        count: How many shards there are.
    """
    numbers = np.array([shard_number(key, count) for key in side.sequences], dtype=np.int32)
    of_frames: NDArray[np.int32] = numbers[side.frame_sequences]
    return of_frames

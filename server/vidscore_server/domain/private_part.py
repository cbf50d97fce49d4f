"""Private sequences: their choice, and the resulting parts of a score.

Tallies add by sequence, so that one pass over a submission gives a score over everything, over the
public sequences and over the private ones. Until a benchmark closes, all that leaves it comes from
the public part alone; the final order is by the private part.

A share is drawn once, when the truth is first complete: a sequence is private if the keyed digest
of its name is at most a cut, which is set to give the share. The key is derived from the server's
secret and stored with the benchmark, so that every server and a restored backup draw the same
sequences, and later sequences are drawn by the same cut.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, sequence_name
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import counted
from vidscore_evaluators.selection import Selection
from vidscore_server.domain.policy import Policy, TruthSize

FIELD = "policy.private_sequences"
SOURCE = "truth"


class Portion(StrEnum):
    """A part of the data that a score is over."""

    WHOLE = "whole"
    """Everything."""
    PUBLIC = "public"
    """Everything except the private sequences."""
    PRIVATE = "private"
    """The private sequences."""


class Draw(Struct, frozen=True):
    """A draw of a share of the sequences.

    Attributes:
        key: Keys the digests of names.
        cut: Greatest digest of a private sequence.
    """

    key: str
    cut: str

    def has(self, key: SequenceKey) -> bool:
        """Whether a sequence is drawn."""
        return _digest(self.key, key) <= self.cut


def draw_share(key: str, sequences: Iterable[SequenceKey], share: float) -> Draw:
    """Draw a share of two or more sequences: at least one, and not all of them.

    Args:
        key: Keys the digests of names.
        sequences: The sequences, in any order.
        share: The share, above 0 and below 1; half a sequence counts as one.
    """
    digests = sorted(_digest(key, sequence) for sequence in sequences)
    count = math.floor(share * len(digests) + 0.5)
    return Draw(key, digests[min(max(count, 1), len(digests) - 1) - 1])


def _digest(key: str, sequence: SequenceKey) -> str:
    content = f"{sequence.domain}\0{sequence.sequence}".encode()
    return hmac.new(key.encode(), content, hashlib.sha256).hexdigest()


def is_private(policy: Policy, draw: Draw | None, key: SequenceKey) -> bool:
    """Whether a sequence is private; before a share is drawn, every one counts as private."""
    if policy.private_share:
        return draw is None or draw.has(key)
    return bool(policy.private_sequences) and _listed(policy).has_sequence(key)


def _listed(policy: Policy) -> Selection:
    return Selection(sequences=policy.private_sequences)


class Settled(Struct, frozen=True):
    """What a complete truth settles.

    Attributes:
        size: Size of its public part.
        draw: The draw; None without a share.
        names: Names of the private sequences, sorted.
    """

    size: TruthSize
    draw: Draw | None
    names: tuple[str, ...]


def settle(
    policy: Policy,
    draw: Draw | None,
    objects: Mapping[SequenceKey, int],
    make_key: Callable[[], str],
) -> Settled:
    """Settle a benchmark's private sequences by a complete truth.

    Args:
        policy: The policy.
        draw: The draw of an earlier complete truth, which stays; None if there is none.
        objects: By sequence, the number of judged objects.
        make_key: Makes the key of a draw.

    Raises:
        InputError: If the policy names unknown sequences, or a part has no objects.
    """
    judged = [key for key, count in objects.items() if count]
    if policy.private_share and draw is None and len(judged) > 1:
        draw = draw_share(make_key(), judged, policy.private_share)
    private = {key for key in objects if is_private(policy, draw, key)}
    public = [key for key in judged if key not in private]
    if policy.keeps_private:
        _refuse_parts(policy, objects, private, judged)
    size = TruthSize(sum(objects[key] for key in public), len(public))
    return Settled(size, draw, tuple(sorted(map(sequence_name, private))))


def _refuse_parts(
    policy: Policy,
    objects: Mapping[SequenceKey, int],
    private: set[SequenceKey],
    judged: list[SequenceKey],
) -> None:
    known = {name for key in objects for name in (key.sequence, sequence_name(key))}
    faults = [
        Fault(f"no sequence {name!r}"[:120], "sequences that the truth has", SOURCE, field=FIELD)
        for name in policy.private_sequences
        if name not in known
    ]
    count = len(private.intersection(judged))
    if not faults and not 0 < count < len(judged):
        found = f"{count} private of {counted(len(judged), 'sequence')} with objects"
        expected = "at least one that is private, and one that is not"
        faults.append(Fault(found, expected, SOURCE, field=FIELD))
    if faults:
        raise InputError(faults)


def answered_portion(policy: Policy) -> Portion:
    """The part that answers are computed from while a benchmark is open."""
    return Portion.PUBLIC if policy.keeps_private else Portion.WHOLE


def private_frames(side: Annotations, private: Callable[[SequenceKey], bool]) -> BoolArray:
    """(F,) whether each frame of a side is of a private sequence."""
    flags = np.array([private(key) for key in side.sequences], dtype=np.bool_)
    return np.asarray(flags[side.frame_sequences])


def board_portion(policy: Policy, close_time: datetime | None, now: datetime) -> Portion:
    """The part of the data that a benchmark's board ranks by.

    Args:
        policy: The policy.
        close_time: When the benchmark closes; None for never.
        now: The time.
    """
    closed = close_time is not None and now >= close_time
    return Portion.PRIVATE if closed and policy.keeps_private else answered_portion(policy)

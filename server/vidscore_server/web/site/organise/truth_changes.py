"""What an upload of ground truth would change against the revision before, sequence by sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate, sequence_name
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_server.web.site.phrases import counted

NEW, CHANGED, GONE, SAME = "new", "changed", "gone", "the same"
STATES = (NEW, CHANGED, GONE, SAME)
"""What can become of a sequence, in the order of a table."""


class SequenceContents(Struct, frozen=True):
    """What a sequence has.

    Attributes:
        frames: Number of its frames.
        objects: Number of its objects.
        fingerprint: Of all of it.
    """

    frames: int = 0
    objects: int = 0
    fingerprint: Fingerprint = Fingerprint()


class SequenceChange(Struct, frozen=True):
    """What becomes of a sequence.

    Attributes:
        name: Its name.
        state: One of `STATES`.
        before: What it has in the revision before.
        after: What it would have.
    """

    name: str
    state: str
    before: SequenceContents
    after: SequenceContents


def merged(before: Annotations | None, upload: Annotations) -> Annotations:
    """An upload with the frames of the revision before that it does not have.

    Args:
        before: The revision before; None where there is none.
        upload: The upload.
    """
    if before is None or before.arity != upload.arity:
        return upload  # other shapes are refused when it is to be stored
    own = {key: upload.frame_numbers[rows] for key, rows in _rows_by_sequence(upload)}
    replaced = np.zeros(before.frame_count, dtype=np.bool_)
    for key, rows in _rows_by_sequence(before):
        if key in own:
            replaced[rows] = np.isin(before.frame_numbers[rows], own[key])
    return concatenate([before.take_frames(~replaced), upload])


def changes_of(before: Annotations | None, after: Annotations) -> list[SequenceChange]:
    """What becomes of each sequence: new ones first, then changed, gone, and the rest.

    Args:
        before: The revision before; None where there is none.
        after: What would follow it.
    """
    olds, news = _contents(before), _contents(after)
    found = []
    for key in olds.keys() | news.keys():
        old, new = olds.get(key), news.get(key)
        if old is None or new is None:
            state = NEW if old is None else GONE
        else:
            state = SAME if old == new else CHANGED
        none = SequenceContents()
        found.append(SequenceChange(sequence_name(key), state, old or none, new or none))
    return sorted(found, key=lambda change: (STATES.index(change.state), change.name))


def change_sentence(changes: Sequence[SequenceChange]) -> str:
    """What becomes of all sequences, in a sentence.

    Args:
        changes: What becomes of each.
    """
    numbers = Counter(change.state for change in changes)
    if not numbers.keys() - {SAME}:
        return "It has what the revision before has."
    parts = [
        f"{counted(numbers[state], 'sequence')} {_verb(numbers[state], state)}"
        for state in STATES
        if numbers[state]
    ]
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def label_changes(
    before: Annotations | None, after: Annotations
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels that come, and labels that go, in the order of their names.

    Args:
        before: The revision before; None where there is none.
        after: What would follow it.
    """
    olds = set() if before is None else set(before.with_used_tables().labels)
    news = set(after.with_used_tables().labels)
    return tuple(sorted(news - olds)), tuple(sorted(olds - news))


def _verb(number: int, state: str) -> str:
    if state == SAME:
        return "stays as it is" if number == 1 else "stay as they are"
    return f"{'is' if number == 1 else 'are'} {state}"


def _contents(truth: Annotations | None) -> dict[SequenceKey, SequenceContents]:
    if truth is None:
        return {}
    found = {}
    for key, rows in _rows_by_sequence(truth):
        part = truth.take_frames(rows)
        found[key] = SequenceContents(part.frame_count, part.object_count, fingerprint(part))
    return found


def _rows_by_sequence(
    truth: Annotations,
) -> Iterable[tuple[SequenceKey, np.typing.NDArray[np.int64]]]:
    """Rows of the frames of each sequence that has any."""
    order = np.argsort(truth.frame_sequences, kind="stable")
    owners, starts = np.unique(truth.frame_sequences[order], return_index=True)
    for owner, rows in zip(owners.tolist(), np.split(order, starts[1:]), strict=True):
        yield truth.sequences[owner], rows

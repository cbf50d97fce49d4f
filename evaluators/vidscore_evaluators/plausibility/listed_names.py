"""Names of a specification that no data has, and that were probably misspelt.

A specification may well list names that a part of the data lacks: a video without objects has no
rows. A name is therefore reported only if the data has an unlisted name with the same letters, or
if none of all listed names is in the data and none adds frames.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from vidscore_evaluators.annotations import SequenceKey, sequence_name
from vidscore_evaluators.names import closest_name, first_of
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec

_ALIKE = 0.8
"""Minimum similarity of a name to the intended one."""

_MOST_LOOKED_UP = 50
"""Maximum number of names that are compared with merely similar ones, which takes time."""

_NAMES_SHOWN = 5

_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{2,3}$")
"""Suffix of the name of a video file."""


def listed_name_warnings(
    specification: BenchmarkSpec, found: Iterable[SequenceKey]
) -> Iterator[ReportWarning]:
    """Warn of listed names that no data has.

    Args:
        specification: The specification.
        found: Sequences of the whole data, on either side.
    """
    keys = dict.fromkeys(found)
    listed = {sequence_name(entry.key): entry for entry in specification.sequences}
    adding = {name for name, entry in listed.items() if entry.evaluated_frames is not None}
    count, names = _not_found(list(listed), list(map(sequence_name, keys)), adding)
    if count:
        text = f"sequences that the specification lists {names}"
        yield ReportWarning("listed_sequences_not_found", text, count)
    domains = [key.domain for key in (*keys, *(entry.key for entry in specification.sequences))]
    count, names = _not_found([one.name for one in specification.domains], domains, ())
    if count:
        text = f"domains that the specification lists {names}"
        yield ReportWarning("listed_domains_not_found", text, count)


def _not_found(
    listed: Sequence[str], found: Sequence[str], adding: Collection[str]
) -> tuple[int, str]:
    """Number of names that are not found, and a text with names, effect and advice; 0 for none."""
    missing = [name for name in dict.fromkeys(listed) if name not in set(found)]
    others = [name for name in dict.fromkeys(found) if name not in set(listed)]
    if not missing or not others:
        return 0, ""
    meant = _meant(missing, others, adding)
    if len(missing) == len(listed) and not adding:
        meant = {**dict.fromkeys(missing, ""), **meant}
    names = [f"{name} (did you mean {own}?)" if own else name for name, own in meant.items()]
    text = (
        f"are not in the data, {first_of(names, _NAMES_SHOWN)}, so that what it says about them "
        "has no effect; write their names as the data does"
    )
    return len(meant), text


def _meant(
    missing: Sequence[str], others: Sequence[str], adding: Collection[str]
) -> Mapping[str, str]:
    """The intended name of each missing one, if there is one."""
    plain = {_plain(name): name for name in reversed(others)}
    meant = {}
    for name in missing:
        own = plain.get(_plain(name))
        if own is None and name not in adding and len(missing) <= _MOST_LOOKED_UP:
            own = closest_name(name, others[:1000], _ALIKE)
            # A replaced letter may make another name: cam_a, cam_b.
            own = own if own is not None and _is_slip(name, own) else None
        if own is not None:
            meant[name] = own
    return meant


def _is_slip(name: str, other: str) -> bool:
    """Whether two names differ in length, but in no digit."""
    digits = [re.sub(r"\D+", " ", one).split() for one in (name, other)]
    return digits[0] == digits[1] and len(name) != len(other)


def _plain(name: str) -> str:
    """The name without differences of spelling: case, blanks, suffix."""
    return re.sub(r"[ \t_-]", "", _SUFFIX.sub("", name.casefold()))

"""Names of a specification that no data has, and that were probably meant to be others.

A specification may well list what a part of the data does not have: a video without objects is in
no rows. So a name is doubted where the data has one of the same letters that is not listed, and
where none of all those listed is in the data and none adds frames.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from vidscore_evaluators.annotations import SequenceKey, sequence_name
from vidscore_evaluators.names import closest_name, first_of
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec

_ALIKE = 0.8
"""Least likeness of a name to the one that it was meant to be."""

_MOST_LOOKED_UP = 50
"""Names that are looked up among others that are merely alike, which takes time."""

_NAMES_SHOWN = 5

_SUFFIX = re.compile(r"\.[a-z][a-z0-9]{2,3}$")
"""The end of the name of a video's file."""


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
    """How many names are not found, and which, what that means and what to do; 0 for none."""
    missing = [name for name in dict.fromkeys(listed) if name not in set(found)]
    others = [name for name in dict.fromkeys(found) if name not in set(listed)]
    if not missing or not others:
        return 0, ""
    meant = _meant(missing, others, adding)
    if len(missing) == len(listed) and not adding:
        meant = {**dict.fromkeys(missing, ""), **meant}
    names = [f"{name} (did you mean {own}?)" if own else name for name, own in meant.items()]
    text = (
        f"are in no data, {first_of(names, _NAMES_SHOWN)}, so that what it says of them applies to "
        "nothing; write their names as the data does"
    )
    return len(meant), text


def _meant(
    missing: Sequence[str], others: Sequence[str], adding: Collection[str]
) -> Mapping[str, str]:
    """The name that each missing one was meant to be, of those for which there is one."""
    plain = {_plain(name): name for name in reversed(others)}
    meant = {}
    for name in missing:
        own = plain.get(_plain(name))
        if own is None and name not in adding and len(missing) <= _MOST_LOOKED_UP:
            own = closest_name(name, others[:1000], _ALIKE)
            # One letter for another may be another name: cam_a, cam_b.
            own = own if own is not None and _is_slip(name, own) else None
        if own is not None:
            meant[name] = own
    return meant


def _is_slip(name: str, other: str) -> bool:
    """Whether two names differ by letters that one of them lacks, and by no digit."""
    digits = [re.sub(r"\D+", " ", one).split() for one in (name, other)]
    return digits[0] == digits[1] and len(name) != len(other)


def _plain(name: str) -> str:
    """The name without what people write differently: case, blanks, suffix."""
    return re.sub(r"[ \t_-]", "", _SUFFIX.sub("", name.casefold()))

"""Warnings about labels that the other side lacks, or spells differently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.names import composed, first_of
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.tally import Table

NAMES_SHOWN = 5

LEAST_STRANGE = 3
"""Minimum number of detections for a warning that no label is shared: fewer may be mistakes."""


class LabelUse(StrEnum):
    """How an evaluator uses labels."""

    EXACT = "exact"
    """Objects and detections of different labels never match."""
    LISTED = "listed"
    """The same, but case is ignored, and the evaluator itself reports labels that it does not
    score."""
    IGNORED = "ignored"
    """Labels are ignored."""


def label_warnings(table: Table, use: LabelUse) -> Iterator[ReportWarning]:
    """Warn of labels that the other side lacks.

    Args:
        table: The input summary's labels.
        use: The evaluator's use of labels.
    """
    objects = _counts(table, Side.TRUTH, use)
    detected = _counts(table, Side.DETECTIONS, use)
    alone = {label: count for label, count in detected.items() if label not in objects}
    if use is LabelUse.IGNORED or not objects or not alone:
        return
    spelled = {_plain(label): label for label in sorted(objects)}
    alike = {label: spelled[_plain(label)] for label in alone if _plain(label) in spelled}
    if alike:
        yield _written_otherwise(alike, alone)
    strange = {label: count for label, count in alone.items() if label not in alike}
    if strange and len(strange) == len(detected) and sum(strange.values()) >= LEAST_STRANGE:
        yield _nothing_in_common(objects, detected)
    elif strange and use is LabelUse.EXACT and len(strange) < len(detected):
        yield _only_detected(strange)


def names_of(
    table: Table, side: Side, chosen: Callable[[str, str], bool], use: LabelUse
) -> dict[str, int]:
    """Number of objects by label, among labels chosen by domain and label."""
    return {
        label: count
        for label, count in _counts(table, side, use, chosen).items()
        if use is not LabelUse.IGNORED
    }


def shown(counts: Mapping[str, int]) -> str:
    """``car (12), bus (3) and 4 more``, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return first_of([f"{named(label)} ({count})" for label, count in ordered], NAMES_SHOWN)


def named(label: str) -> str:
    """The label as it reads in a sentence."""
    return label if label and label == label.strip() else repr(label) if label else "(no label)"


def _counts(
    table: Table,
    side: Side,
    use: LabelUse,
    chosen: Callable[[str, str], bool] | None = None,
) -> dict[str, int]:
    """Number of objects of a side by label, if at least one."""
    counts: dict[str, int] = {}
    columns = (table.texts("domain"), table.texts("label"), table.count(side.value).tolist())
    for domain, label, count in zip(*columns, strict=True):
        if count and (chosen is None or chosen(domain, label)):
            name = label.casefold() if use is LabelUse.LISTED else label
            counts[name] = counts.get(name, 0) + count
    return counts


def _plain(label: str) -> str:
    """The label without differences of spelling: case, blanks, é, 1 as 1.0."""
    folded = composed(label).casefold()
    words = "".join(character for character in folded if character not in " \t_-")
    try:
        number = float(words)
    except ValueError:
        return words
    return f"{number:g}" if number == number else words  # noqa: PLR0124 - NaN alone differs from itself


def _written_otherwise(alike: Mapping[str, str], counts: Mapping[str, int]) -> ReportWarning:
    pairs = [
        # Letters and accents that are composed differently look the same.
        f"{label!a} for {other!a}"
        if composed(label) == composed(other)
        else f"{named(label)!r} for {named(other)!r}"
        for label, other in sorted(alike.items())
    ]
    return ReportWarning(
        "labels_written_otherwise",
        "detections have labels that differ from the ground truth's by case, blanks or type alone: "
        f"{first_of(pairs, NAMES_SHOWN)}; write them as the ground truth does",
        sum(counts[label] for label in alike),
    )


def _nothing_in_common(objects: Mapping[str, int], detected: Mapping[str, int]) -> ReportWarning:
    return ReportWarning(
        "no_label_in_common",
        "detections have no label in common with the ground truth: the ground truth has "
        f"{shown(objects)}, the detections have {shown(detected)}; give both sides the same labels",
        sum(detected.values()),
    )


def _only_detected(counts: Mapping[str, int]) -> ReportWarning:
    return ReportWarning(
        "labels_only_detected",
        f"detections have labels that no ground truth has: {shown(counts)}; means over classes "
        "leave such classes out, so check the labels or remove these detections",
        sum(counts.values()),
    )

"""A part of the data: some domains, sequences, labels and frames, chosen after reading.

Frames that are not chosen are dropped on both sides and from the specification. Objects stay: other
labels are left out in the same way as by a specification's list of labels, so that don't-care rules
see the same objects, and rows keep their numbers.

`select` applies a `Selection` to everything that is scored; reports repeat it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.annotations import Annotations, SequenceKey, sequence_name
from vidscore_evaluators.arrays import BoolArray, distinct
from vidscore_evaluators.convert import converted
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.names import did_you_mean, first_of
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    FrameRanges,
    SequenceSpec,
    list_ranges,
    read_ranges,
    required_name,
)
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats import Pair
    from vidscore_evaluators.formats.source import Source
    from vidscore_evaluators.outcome_table import Outcomes

NAMES_LISTED = 10
"""Maximum number of names that an error lists if none is similar."""

OF_OTHER_LABELS = frozenset({"classes_not_scored", "unlisted_objects", "unlisted_detections"})
"""Codes of warnings about labels that are not scored; whoever chooses labels asks for that."""

_FRAMES = "frames such as 100:200 or 100:200,300, first before last, both included"
_RANGE = re.compile(r"\s*([0-9]{1,16})\s*(?::\s*([0-9]{1,16})\s*)?")


def _read_names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise ValueError("an array of names")
    return tuple(required_name(entry) for entry in value)


def _names(given: Any) -> tuple[str, ...] | None:
    """Names, one or several; a ValueError says what was expected.

    An empty list, such as the result of a filter that matches nothing, must not choose everything.
    """
    if given is None:
        return None
    alone = isinstance(given, str) or not isinstance(given, Iterable)
    names: tuple[Any, ...] = (given,) if alone else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise ValueError("a name or several")
    if not names:
        raise ValueError("a name or several; None chooses all")
    # The order of a set differs from run to run, and reports show the names.
    return tuple(sorted(names) if isinstance(given, set | frozenset) else dict.fromkeys(names))


def _frame_ranges(
    given: str | FrameRanges | Iterable[int | tuple[int, int]] | None,
) -> FrameRanges | None:
    """Ranges of frames; a ValueError says what was expected."""
    if given is None or isinstance(given, FrameRanges):
        return given
    try:
        pairs = list(
            map(_typed_pair, given.split(",")) if isinstance(given, str) else map(_pair, given)
        )
        if not pairs or max(last for _, last in pairs) > MAXIMUM_FRAME_NUMBER:
            raise ValueError(_FRAMES)
        return FrameRanges.of(pairs)
    except (TypeError, ValueError):
        raise ValueError(_FRAMES) from None


def _pair(given: int | tuple[int, int]) -> tuple[int, int]:
    first, last = given if isinstance(given, tuple | list) else (given, given)
    return index(first), index(last)


def _typed_pair(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ValueError(_FRAMES)
    return int(found[1]), int(found[2] or found[1])


def _shown_ranges(frames: FrameRanges) -> Iterator[str]:
    for first, last in frames.ranges:
        yield str(first) if first == last else f"{first}:{last}"


@dataclass(frozen=True, init=False)
class Selection:
    """The chosen part; None for all.

    Attributes:
        domains: Domains.
        sequences: Sequences, by name in every domain, or as ``domain/sequence``.
        labels: Labels; case does not count.
        frames: Frame numbers, in every chosen sequence.
    """

    domains: tuple[str, ...] | None = converted(None, read=_read_names, write=list)
    sequences: tuple[str, ...] | None = converted(None, read=_read_names, write=list)
    labels: tuple[str, ...] | None = converted(None, read=_read_names, write=list)
    frames: FrameRanges | None = converted(None, read=read_ranges, write=list_ranges)

    def __init__(
        self,
        *,
        domains: str | Iterable[str] | None = None,
        sequences: str | Iterable[str] | None = None,
        labels: str | Iterable[str] | None = None,
        frames: str | FrameRanges | Iterable[int | tuple[int, int]] | None = None,
    ) -> None:
        """Choose by names, one or several, and by frame numbers; a selector left out chooses all.

        Args:
            domains: Domains.
            sequences: Sequences.
            labels: Labels.
            frames: ``"100:200,300"``, or numbers and (first, last) pairs; both ends are included.

        Raises:
            ParameterError: With everything that is not a name or a range of frames, or is empty.
        """
        chosen: dict[str, Any] = {"domains": domains, "sequences": sequences, "labels": labels}
        faults = []
        for name, given in (chosen | {"frames": frames}).items():
            try:
                read = _frame_ranges(given) if name == "frames" else _names(given)
            except ValueError as error:
                faults.append(Fault(repr(given)[:80], str(error), field=name))
            else:
                object.__setattr__(self, name, read)
        if faults:
            raise ParameterError(faults)

    def __bool__(self) -> bool:
        """Whether it restricts anything; if not, everything is scored."""
        return self != ALL

    def __str__(self) -> str:
        """For people: ``sequence a, b; label car; frames 100:200, 300``."""
        named = {"domain": self.domains, "sequence": self.sequences, "label": self.labels}
        parts = [f"{name} {', '.join(chosen)}" for name, chosen in named.items() if chosen]
        if self.frames is not None:
            parts.append(f"frames {', '.join(_shown_ranges(self.frames))}")
        return "; ".join(parts)

    @property
    def typed_frames(self) -> str | None:
        """The frames in the text form that `frames` takes: ``100:200,300``; None for all."""
        return None if self.frames is None else ",".join(_shown_ranges(self.frames))

    def has_sequence(self, key: SequenceKey) -> bool:
        """Whether a sequence is chosen."""
        if self.domains is not None and key.domain not in self.domains:
            return False
        return self.sequences is None or bool(
            {key.sequence, sequence_name(key)}.intersection(self.sequences)
        )

    def has_label(self, label: str) -> bool:
        """Whether a label is chosen."""
        return self.labels is None or label.casefold() in {one.casefold() for one in self.labels}

    def frames_of(
        self, annotations: Annotations, *, but: Collection[SequenceKey] = ()
    ) -> BoolArray:
        """(F,) whether each frame is chosen and not of one of the sequences `but`."""
        chosen = np.array(
            [self.has_sequence(key) and key not in but for key in annotations.sequences],
            dtype=np.bool_,
        )
        keep = chosen[annotations.frame_sequences]
        if self.frames is not None:
            keep &= self.frames.contains(annotations.frame_numbers)
        return keep

    def of_outcomes(self, outcomes: Outcomes) -> Outcomes:
        """The rows of the chosen labels; rows of other labels are in the table as ignored."""
        if self.labels is None:
            return outcomes
        chosen = np.array([self.has_label(label) for label in outcomes.label_names], dtype=np.bool_)
        return outcomes.take(chosen[outcomes.labels])

    def of_warnings(
        self, warnings: Iterable[ReportWarning], *, whole_sequences: bool
    ) -> Iterator[ReportWarning]:
        """Warnings of a report, with a note, and without those that chosen labels explain.

        Args:
            warnings: The warnings.
            whole_sequences: Whether the evaluator has rules on whole sequences.
        """
        if self.frames is not None and whole_sequences:
            yield ReportWarning(
                "chosen_frames",
                "evaluator with rules on whole sequences sees only the chosen frames: tracks "
                "begin and end with them",
            )
        for warning in warnings:
            if self.labels is None or warning.code not in OF_OTHER_LABELS:
                yield warning


ALL = Selection()
"""Everything; nothing is left out."""


class Selected(Struct, frozen=True, eq=False):
    """The chosen part of the data, ready to be scored.

    Attributes:
        evaluators: The evaluators, which score the chosen labels alone.
        pair: The chosen frames of both sides.
        specification: The benchmark's specification for these frames.
    """

    evaluators: list[Evaluator[Any]]
    pair: Pair
    specification: BenchmarkSpec


def select(
    selection: Selection,
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec = BenchmarkSpec(),
) -> Selected:
    """Choose a part of the data to score.

    Args:
        selection: The part.
        evaluators: Evaluators of the specification.
        pair: Both sides, as read.
        specification: The benchmark's specification.

    Raises:
        ParameterError: With every name that does not exist, and if nothing is left to score.
    """
    if not selection:
        return Selected(list(evaluators), pair, specification)
    _check(selection, evaluators, pair, specification)
    part = _of_specification(selection, specification)
    truth = _of_frames(pair.truth, selection.frames_of(pair.truth.annotations))
    listed = {entry.key for entry in part.sequences}
    # A sequence without frames in the chosen truth loses its detections, too.
    left = {*truth.annotations.sequences, *listed}
    gone = set(pair.truth.annotations.sequences) - left
    detected = selection.frames_of(pair.detections.annotations, but=gone)
    chosen = structs.replace(pair, truth=truth, detections=_of_frames(pair.detections, detected))
    if not truth.annotations.frame_count and not _evaluates(part):
        raise ParameterError([Fault("no frame of the truth in the chosen part", "at least one")])
    domains = sorted({key.domain for key in left})
    narrowed = [_of_evaluator(selection, one, part, domains) for one in evaluators]
    return Selected(narrowed, chosen, part)


def _of_frames(source: Source, keep: BoolArray) -> Source:
    """The chosen frames of a side, and their sequences."""
    annotations = source.annotations
    used = set(distinct(annotations.frame_sequences[keep]).tolist())
    unused = (key for row, key in enumerate(annotations.sequences) if row not in used)
    return source.without_frames(~keep, frozenset(unused))


def _of_specification(selection: Selection, specification: BenchmarkSpec) -> BenchmarkSpec:
    """The specification without the sequences and frames that are not chosen."""
    entries = tuple(
        _of_entry(selection, entry)
        for entry in specification.sequences
        if selection.has_sequence(entry.key)
    )
    return dataclasses.replace(specification, sequences=entries)


def _of_entry(selection: Selection, entry: SequenceSpec) -> SequenceSpec:
    evaluated = entry.evaluated_frames
    if selection.frames is None or evaluated is None:
        return entry
    return dataclasses.replace(entry, frames=evaluated.intersection(selection.frames))


def _evaluates(specification: BenchmarkSpec) -> bool:
    return any(entry.evaluated_frames for entry in specification.sequences)


def _of_evaluator(
    selection: Selection,
    evaluator: Evaluator[Any],
    specification: BenchmarkSpec,
    domains: Sequence[str],
) -> Evaluator[Any]:
    """The same evaluator restricted to the chosen part, which its reports name."""
    part = dataclasses.replace(evaluator.specification, sequences=specification.sequences)
    if selection.labels is not None:
        part = _with_lists(part, {one: _listed(selection, evaluator, one) for one in domains})
    chosen: Evaluator[Any] = type(evaluator)(evaluator.parameters, part)
    chosen.preset = evaluator.preset
    chosen.selection = selection
    return chosen


def _listed(selection: Selection, evaluator: Evaluator[Any], domain: str) -> tuple[str, ...]:
    """The chosen labels among those that an evaluator scores in a domain."""
    scored = evaluator.scored_classes(domain)
    if scored is None:
        return selection.labels or ()
    return tuple(label for label in scored if selection.has_label(label))


def _with_lists(specification: BenchmarkSpec, lists: dict[str, tuple[str, ...]]) -> BenchmarkSpec:
    """The specification with a list of labels per domain, or one list if all are equal."""
    different = set(lists.values())
    if len(different) == 1:
        return dataclasses.replace(specification, domains=(), classes=different.pop())
    domains = tuple(DomainSpec(name, labels) for name, labels in lists.items())
    return dataclasses.replace(specification, domains=domains, classes=())


# --- names that do not exist -----------------------------------------------------------------


def _check(
    selection: Selection,
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec,
) -> None:
    sides = (pair.truth.annotations, pair.detections.annotations)
    keys = sorted({*sides[0].sequences, *(entry.key for entry in specification.sequences)})
    faults = [
        *_unknown_domains(selection, [key.domain for key in keys]),
        *_unknown_sequences(selection, keys),
        *_unknown_labels(selection, evaluators, sides, keys),
    ]
    if faults:
        raise ParameterError(faults)


def _unknown_sequences(selection: Selection, keys: Sequence[SequenceKey]) -> Iterator[Fault]:
    names = {name for key in keys for name in (key.sequence, sequence_name(key))}
    shown = [sequence_name(key) for key in keys]
    for wanted in selection.sequences or ():
        if wanted not in names:
            yield _fault("sequence", wanted, shown, [*shown, *names])


def _unknown_labels(
    selection: Selection,
    evaluators: Sequence[Evaluator[Any]],
    sides: Sequence[Annotations],
    keys: Sequence[SequenceKey],
) -> Iterator[Fault]:
    if selection.labels is None:
        return
    used = {side.labels[row] for side in sides for row in distinct(side.label_indices).tolist()}
    domains = {key.domain for key in keys}
    for evaluator in evaluators:
        whose = f"{evaluator.name} of {evaluator.preset}" if evaluator.preset else evaluator.name
        if not evaluator.needs.listed_labels:
            yield Fault(f"labels for {whose}", "none: it scores all of them alike", field="labels")
            continue
        lists = [evaluator.scored_classes(domain) for domain in sorted(domains)]
        scored = {label for known in lists for label in (used if known is None else known)}
        folded = {label.casefold() for label in scored}
        for wanted in selection.labels:
            if wanted.casefold() not in folded:
                known = sorted(filter(None, scored))
                yield _fault("label", wanted, known, known, f"a label that {whose} scores")


def _unknown_domains(selection: Selection, known: Sequence[str]) -> Iterator[Fault]:
    names = list(dict.fromkeys(filter(None, known)))
    for wanted in selection.domains or ():
        if wanted not in known:
            yield _fault("domain", wanted, names, names)


def _fault(
    kind: str, wanted: str, known: Sequence[str], near: Iterable[str], expected: str = ""
) -> Fault:
    """Fault for a name that does not exist, with the nearest name or the first existing ones."""
    listed = first_of(known, NAMES_LISTED)
    there_are = f"there are {listed}" if known else "none has a name"
    return Fault(
        f"{kind} {wanted!r}",
        expected or f"a {kind} of the truth",
        field=f"{kind}s",
        advice=did_you_mean(wanted, near) or there_are,
    )

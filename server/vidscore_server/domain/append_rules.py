"""Rules of appends to a benchmark: its definition, and the names that participants may know.

Names come from the specification. A kind of name that it lacks comes from the truth, once it is
complete. Names that are not public, or not known yet, are never read: no answer can depend on them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side, sequence_name
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.names import closest_name
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_server.domain.batches import name_faults, rule_faults
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import NameKind, withheld_warning
from vidscore_server.domain.truth import TruthStore
from vidscore_server.errors import NotOpenError
from vidscore_server.runtime import retrieve
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, TruthRevisionRecord

MAXIMUM_WARNINGS = 20
"""Maximum number of warnings: nobody reads more, and a submission's record stays small."""

NAMES_IN_MESSAGE = 5
"""Maximum number of names that a message lists; it gives the number of the others."""

ADVICE_FAULTS = 5
"""Maximum number of faults per batch that get advice: finding a similar name takes 10 ms."""

NAMES_COMPARED = 1_000
"""Maximum number of known names that are searched for the nearest one."""

SHOWN_CHARACTERS = 80

FrameBounds = tuple[int, int]
"""First and last frame of a sequence; first > last if it has none."""

_ANY_FRAME: FrameBounds = (0, np.iinfo(np.int64).max)


class KnownNames(Struct, frozen=True, eq=False, dict=True):
    """Names that detections are checked against; None if not public, or not known yet.

    Attributes:
        sequences: Sequences, each with its first and last frame if these are public.
        listed_labels: Labels that the specification lists, by domain; case is ignored.
        listed_elsewhere: Labels that it lists for all other domains; None if it lists none.
        labels: Labels of the truth.
        fold_labels: Whether all evaluators treat labels that differ only in case as the same.
        withheld: Warning to every submission if names are withheld; otherwise empty.
    """

    sequences: Mapping[SequenceKey, FrameBounds | None] | None
    listed_labels: Mapping[str, tuple[str, ...]]
    listed_elsewhere: tuple[str, ...] | None
    labels: frozenset[str] | None
    fold_labels: bool
    withheld: str

    def are_fine(self, domain: str, labels: Iterable[str]) -> bool:
        """Whether all labels are known to be fine, by a fast check."""
        fine = self._lists(domain).fine
        return fine is None or fine.issuperset(labels)

    def listed(self, domain: str) -> tuple[str, ...]:
        """Labels that the specification lists for a domain."""
        return self.listed_labels.get(domain, self.listed_elsewhere or ())

    def refuses(self, domain: str, label: str) -> bool:
        """Whether the specification lists labels for a domain, but not this one."""
        folded = self._lists(domain).folded
        return folded is not None and label.casefold() not in folded

    def doubts(self, domain: str, label: str) -> bool:
        """Whether the truth has no object with the label, or only in another spelling.

        A listed label without any object is no reason for doubt.
        """
        return self._doubts(label, listed=self._lists(domain).folded is not None)

    def _doubts(self, label: str, *, listed: bool) -> bool:
        if self.labels is None or label in self.labels:
            return False
        other_spelling = label.casefold() in self._folded
        if self.fold_labels and other_spelling:
            return False
        return other_spelling or not listed

    @cached_property
    def _folded(self) -> frozenset[str]:
        return _folded(self.labels or ())

    def _lists(self, domain: str) -> _Lists:
        return self._by_domain.get(domain, self._elsewhere)

    @cached_property
    def _by_domain(self) -> dict[str, _Lists]:
        return {domain: self._lists_of(labels) for domain, labels in self.listed_labels.items()}

    @cached_property
    def _elsewhere(self) -> _Lists:
        if self.listed_elsewhere is None:
            return _Lists(None, self.labels)
        return self._lists_of(self.listed_elsewhere)

    def _lists_of(self, labels: tuple[str, ...]) -> _Lists:
        folded = _folded(labels)
        fine = frozenset(
            label
            for label in {*labels, *(self.labels or ())}
            if label.casefold() in folded and not self._doubts(label, listed=True)
        )
        return _Lists(folded, fine)


class _Lists(Struct, frozen=True):
    """The known labels of a domain.

    Attributes:
        folded: Labels that the specification lists, case-folded; None if it lists none.
        fine: Labels without faults or doubts; None for all.
    """

    folded: frozenset[str] | None
    fine: frozenset[str] | None


class NameCheck(Struct, frozen=True):
    """Faults and doubts about the names of detections.

    Attributes:
        faults: Why they are refused.
        warnings: Doubts, for the sender; the same names give the same strings.
    """

    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()


def needs_truth(definition: Definition) -> bool:
    """Whether some of the public names are only in the truth."""
    public, specification = definition.public_names, definition.specification
    of_sequences = not specification.sequences
    of_frames = of_sequences or any(entry.frame_count is None for entry in specification.sequences)
    return (
        (NameKind.SEQUENCES in public and of_sequences)
        or (NameKind.FRAME_COUNTS in public and of_frames)
        or (NameKind.LABELS in public and definition.label_use is not LabelUse.IGNORED)
    )


def known_names(definition: Definition, truth: Annotations | None) -> KnownNames:
    """Names that detections of a benchmark are checked against.

    Args:
        definition: The benchmark.
        truth: Its truth; None if it is not complete.
    """
    public = definition.public_names
    shown = definition.specification if NameKind.LABELS in public else BenchmarkSpec()
    of_truth = NameKind.LABELS in public and definition.label_use is not LabelUse.IGNORED
    return KnownNames(
        sequences=_sequences(definition, truth) if NameKind.SEQUENCES in public else None,
        listed_labels={
            entry.name: entry.classes for entry in shown.domains if entry.classes is not None
        },
        listed_elsewhere=shown.classes,
        labels=_labels(truth) if of_truth and truth is not None else None,
        fold_labels=definition.label_use is LabelUse.LISTED,
        withheld=withheld_warning(public),
    )


def check_names(names: KnownNames, batch: Annotations, source: str) -> NameCheck:
    """Check detections against the names of their benchmark.

    Args:
        names: The known names.
        batch: The detections.
        source: Where they stand, for messages.
    """
    faults = [*_sequence_faults(names, batch, source), *_frame_faults(names, batch, source)]
    warnings = dict.fromkeys([names.withheld] if names.withheld else [])
    for number, (domain, row, refused) in enumerate(_doubtful_labels(names, batch)):
        if refused:
            near = number < ADVICE_FAULTS
            faults.append(_label_fault(names, batch.labels[row], domain, row, source, near=near))
        elif len(warnings) <= MAXIMUM_WARNINGS:
            warnings[_label_warning(batch.labels[row], names.labels or ())] = None
    return NameCheck(tuple(faults), tuple(warnings))


def late_warnings(checks: Iterable[NameCheck]) -> tuple[str, ...]:
    """Warnings about detections that were received before the names were known.

    Args:
        checks: The checks of all parts of a submission against the names that are known now.
    """
    found = list(checks)
    warnings = dict.fromkeys(text for check in found for text in check.warnings)
    faults: dict[str, Fault] = {}
    for fault in (fault for check in found for fault in check.faults):
        faults.setdefault(fault.found, fault)
    late = map(_late_warning, list(faults.values())[:MAXIMUM_WARNINGS])
    return (*warnings, *late)


def _late_warning(fault: Fault) -> str:
    if fault.field == "frame_numbers":
        return f"{fault.found} gets no score, because the benchmark has {fault.expected}"
    advice = f"; {fault.advice}" if fault.advice else ""
    return f"{fault.found} gets no score, because it is not {fault.expected}{advice}"


def _sequences(
    definition: Definition, truth: Annotations | None
) -> Mapping[SequenceKey, FrameBounds | None] | None:
    listed = definition.specification.sequences
    if not listed and truth is None:
        return None
    if NameKind.FRAME_COUNTS not in definition.public_names:
        in_truth = () if truth is None else truth.used_sequences
        return dict.fromkeys([entry.key for entry in listed] or in_truth)
    of_truth = {} if truth is None else _bounds(truth)
    if not listed:
        return dict(of_truth)
    return {
        entry.key: of_truth.get(entry.key)
        if entry.frame_count is None
        else (entry.first_frame, entry.first_frame + entry.frame_count - 1)
        for entry in listed
    }


def _bounds(truth: Annotations) -> dict[SequenceKey, FrameBounds]:
    """First and last frame of each sequence with frames."""
    order = np.lexsort((truth.frame_numbers, truth.frame_sequences))
    rows, starts = np.unique(truth.frame_sequences[order], return_index=True)
    numbers = truth.frame_numbers[order]
    ends = np.append(starts[1:], len(numbers)) - 1
    return {
        truth.sequences[row]: (first, last)
        for row, first, last in zip(
            rows.tolist(), numbers[starts].tolist(), numbers[ends].tolist(), strict=True
        )
    }


def _labels(truth: Annotations) -> frozenset[str]:
    return frozenset(truth.labels[row] for row in np.unique(truth.label_indices).tolist())


def _sequence_faults(names: KnownNames, batch: Annotations, source: str) -> list[Fault]:
    known = names.sequences
    if known is None:
        return []
    unknown = [(row, key) for row, key in enumerate(batch.sequences) if key not in known]
    named = [_shown(entry) for entry in known] if unknown else []
    return [
        Fault(
            f"sequence {_shown(key)}",
            "a sequence of the benchmark",
            source,
            field=f"sequences[{row}]",
            advice=_advice(_shown(key), named, "its sequences") if number < ADVICE_FAULTS else None,
        )
        for number, (row, key) in enumerate(unknown)
    ]


def _frame_faults(names: KnownNames, batch: Annotations, source: str) -> list[Fault]:
    """A fault for each sequence with frames outside of its bounds; at once for all sequences."""
    known = names.sequences or {}
    bounds = [known.get(key) or _ANY_FRAME for key in batch.sequences]
    if all(entry is _ANY_FRAME for entry in bounds):
        return []
    first, last = np.array(bounds, dtype=np.int64)[batch.frame_sequences].T
    numbers = batch.frame_numbers
    outside = np.flatnonzero((numbers < first) | (numbers > last))
    found = np.unique(batch.frame_sequences[outside], return_index=True, return_counts=True)
    faults = []
    for row, place, count in zip(*(column.tolist() for column in found), strict=True):
        entry = int(outside[place])
        low, high = bounds[row]
        more = f", and {count - 1} more" if count > 1 else ""
        wrong = f"frame {numbers[entry]} of sequence {_shown(batch.sequences[row])}{more}"
        expected = f"frames {low} to {high}" if low <= high else "no frame"
        faults.append(Fault(wrong, expected, source, entry=entry, field="frame_numbers"))
    return faults


def _doubtful_labels(names: KnownNames, batch: Annotations) -> Iterator[tuple[str, int, bool]]:
    """For each refused or doubtful label: domain, row in the table, whether it is refused."""
    domains = {key.domain for key in batch.sequences}
    if not batch.object_count or all(names.are_fine(domain, batch.labels) for domain in domains):
        return  # the usual case: no lookup per object
    count = len(batch.labels)
    places = batch.frame_sequences[batch.object_frames] * count + batch.label_indices
    used = {
        (batch.sequences[place // count].domain, place % count)
        for place in np.unique(places).tolist()
    }
    for domain, row in sorted(used):
        refused = names.refuses(domain, batch.labels[row])
        if refused or names.doubts(domain, batch.labels[row]):
            yield domain, row, refused


def _label_fault(
    names: KnownNames, label: str, domain: str, row: int, source: str, *, near: bool
) -> Fault:
    listed = names.listed(domain)
    found = f"label {label[:SHOWN_CHARACTERS]!r}"
    where = f"a label of domain {domain}" if domain else "a label of the benchmark"
    advice = _advice(label, listed, "its labels") if near else None
    return Fault(found, where, source, field=f"labels[{row}]", advice=advice)


def _label_warning(label: str, known: Iterable[str]) -> str:
    shown = f"label {label[:SHOWN_CHARACTERS]!r}" if label else "objects without a label"
    verb = "is" if label else "are"
    advice = _advice(label, sorted(known), "its labels")
    return f"{shown} {verb} not in the benchmark's ground truth and can match nothing; {advice}"


def _advice(name: str, known: Sequence[str], what: str) -> str:
    """Advice with the nearest known name, or with the first known names."""
    close = closest_name(name, known[:NAMES_COMPARED])
    if close is not None:
        return f"did you mean {close[:SHOWN_CHARACTERS]}?"
    named = [entry[:SHOWN_CHARACTERS] for entry in known if entry][:NAMES_IN_MESSAGE]
    if not named:
        return f"{what} have no names"
    rest = f" and {len(known) - len(named)} more" if len(known) > len(named) else ""
    return f"{what} are {', '.join(named)}{rest}"


def _folded(labels: Iterable[str]) -> frozenset[str]:
    return frozenset(label.casefold() for label in labels)


def _shown(key: SequenceKey) -> str:
    return sequence_name(key)[:SHOWN_CHARACTERS]


# --- Rules

KEEP_S = 1.0
"""Time for which a benchmark's rules are cached; a change by this server takes effect at once."""

MAXIMUM_KEPT = 1_000

_State = tuple[str, str, tuple[int, datetime] | None]
"""The inputs of rules: the benchmark's creation time and definition, the revision of its truth."""


class AppendRules(Struct, frozen=True, eq=False):
    """Rules that batches must keep.

    Attributes:
        definition: The benchmark.
        arity: Coordinates that a detection has.
        names: Its names that participants may know.
    """

    definition: Definition
    arity: int
    names: KnownNames


class RuleCache:
    """Caches the rules of benchmarks for a short time: truth may be uploaded meanwhile."""

    def __init__(self, context: Context, benchmarks: Benchmarks, truth: TruthStore) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._truth = truth
        self._kept: dict[str, tuple[float, _State, AppendRules]] = {}
        self._looking: dict[str, asyncio.Task[AppendRules]] = {}

    async def of(self, benchmark: str) -> AppendRules:
        """The rules of a benchmark; the same object until they change.

        Raises:
            NotFoundError: If there is no such benchmark.
            NotOpenError: If the shape of its detections is not known yet.
        """
        kept = self._kept.get(benchmark)
        if kept is not None and self._context.monotonic() - kept[0] < KEEP_S:
            return kept[2]
        looking = self._looking.get(benchmark)
        if looking is None:
            # One lookup for all callers: the streams of a benchmark all ask again at the same
            # moment.
            looking = asyncio.create_task(self._look(benchmark))
            self._looking[benchmark] = looking
            looking.add_done_callback(retrieve)
        return await asyncio.shield(looking)

    async def _look(self, benchmark: str) -> AppendRules:
        """Look a benchmark up, and cache the rules unless it has changed meanwhile."""
        own = asyncio.current_task()
        try:
            state, rules = await self._context.read(lambda reader: self._look_up(reader, benchmark))
            if self._looking.get(benchmark) is own:
                if len(self._kept) >= MAXIMUM_KEPT:
                    self._kept.clear()
                self._kept[benchmark] = (self._context.monotonic(), state, rules)
        finally:
            if self._looking.get(benchmark) is own:
                del self._looking[benchmark]
        return rules

    def forget(self, benchmark: str) -> None:
        """Look a benchmark up again the next time, because it has changed."""
        self._looking.pop(benchmark, None)  # it may have read the former state
        kept = self._kept.get(benchmark)
        if kept is not None:
            self._kept[benchmark] = (float("-inf"), *kept[1:])

    def _look_up(self, reader: Reader, benchmark: str) -> tuple[_State, AppendRules]:
        record = required_benchmark(reader, benchmark)
        definition = self._benchmarks.definition(record)
        revision = _complete_revision(reader, record) if needs_truth(definition) else None
        # A restored benchmark may have had another truth with this revision number.
        of_truth = None if revision is None else (revision.revision, revision.create_time)
        state = (record.create_time.isoformat(), record.definition, of_truth)
        kept = self._kept.get(benchmark)
        if kept is not None and kept[1] == state:
            return state, kept[2]
        if definition.detection_arity is None:
            raise NotOpenError(
                f"{benchmark_name(benchmark)} takes no detections yet: their geometry follows from "
                "the truth, which has not been uploaded"
            )
        arity, truth = definition.detection_arity, None
        if revision is not None and definition.truth_arity is not None:
            number = revision.revision
            truth = self._truth.load(reader, benchmark, number, definition.truth_arity)
        return state, AppendRules(definition, arity, known_names(definition, truth))


def _complete_revision(reader: Reader, record: BenchmarkRecord) -> TruthRevisionRecord | None:
    """The newest revision of a truth if it is complete, otherwise None."""
    revision = reader.truth_revision(record.benchmark, record.truth_revision)
    return revision if revision is not None and revision.complete else None


def check_batch(rules: AppendRules, batch: Annotations, source: str) -> NameCheck:
    """Check detections against everything that participants may know about the benchmark.

    Args:
        rules: Rules of the benchmark.
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    names = check_names(rules.names, batch, source)
    faults = rule_faults(rules.definition.evaluators, Side.DETECTIONS, batch, source)
    controls = name_faults(batch, source)
    return NameCheck((*controls, *names.faults, *faults), names.warnings)

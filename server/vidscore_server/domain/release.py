"""What leaves the server about a hidden benchmark: the one allow-list, whatever the RPC.

Organisers see everything. Everyone else sees what stands here, and nothing that does not:

- of a benchmark: all but its truth's revision (whether it is complete is told) and, unless scores
  are live, which frames are evaluated and which are don't-care, because those are the frames that
  have truth; and of names those alone that `public_names` has: no sequences, class lists or frame
  counts of another kind;
- of a score under ``ladder``: the ranking measures over everything, as the Ladder released them;
- under ``final``: rows of ranking and released measures, rounded to the step, but those of single
  sequences, and those of a class or a domain only where labels or sequences are public, and the
  specification or the submission itself names it;
- under ``live``: the report, its digest of the truth keyed;
- of a board: what is seen of a score, which is what ranks there, and its revision of the truth;
- of a score whose board is not shown yet: nothing;
- of outcomes, where the policy shows a team its own: of each of its detections what it has sent,
  and whether it is right, wrong or ignored;
- of the clock of a live benchmark: all of it, which names the public alone; and of a team's own
  submission how it answered, which follows from the clock and from what the team did.

Warnings, curves, counts, and the digests of a report are in none of them but ``live``: a digest
of the detections that were scored would tell which of them met truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import orjson

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.outcome_table import (
    CODES,
    NO_PARTNER,
    OUTCOMES,
    ROW_COLUMNS,
    Outcome,
    Outcomes,
)
from vidscore_evaluators.report import Number, Report, Row, Scores, row_block
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.ladder import Scale, release, round_digits, shown
from vidscore_server.domain.policy import NameKind, Policy, SubmittedNames, Visibility

Values = Mapping[str, float | None]
"""Ranking measures by name, first one first."""


def values_of(report: Report, names: Sequence[str]) -> dict[str, float | None]:
    """Ranking measures of a report over everything; None where one is undefined or not there."""
    found = {row.measure: row.value for row in report.rows() if row[:3] == (None, None, None)}
    return {name: _as_float(found.get(name)) for name in names}


def values_to_json(values: Values) -> str:
    """Values as the store keeps them."""
    return orjson.dumps(dict(values)).decode()


def values_from_json(text: str) -> dict[str, float | None]:
    """Inverse of `values_to_json`; an empty text is no values."""
    found: dict[str, float | None] = orjson.loads(text) if text else {}
    return found


def released_values(
    policy: Policy, best: Values, new: Values, scales: Mapping[str, Scale]
) -> dict[str, float | None]:
    """What a team's released values are once a new score is there.

    Args:
        policy: The benchmark's policy.
        best: What was released to the team before; empty where nothing was.
        new: The new score's ranking measures.
        scales: The ranking measures, first one first, as the Ladder sees them.
    """
    if policy.shown is not Visibility.LADDER or not scales:
        return dict(new)
    before = tuple(best.values()) if list(best) == list(scales) else None
    values = release(before, tuple(new.values()), tuple(scales.values()), policy.ladder_step)
    return dict(best) if values is None else dict(zip(scales, values, strict=True))


def releases_differ(before: Policy, after: Policy) -> bool:
    """Whether the same scores release something else under another policy."""
    names = ("visibility", "ladder_step", "ranking_measure")
    return any(getattr(before, name) != getattr(after, name) for name in names)


def released_report(
    caller: Caller,
    definition: Definition,
    report: Report,
    released: Values,
    submitted: SubmittedNames,
    keyed: Callable[[str], str],
) -> Report:
    """As much of a report as the caller may see.

    Args:
        caller: The caller.
        definition: The benchmark.
        report: The whole report.
        released: What was released of it to the team.
        submitted: Names that the submission has.
        keyed: Keys a digest with the server's secret.
    """
    if caller.is_organiser:
        return report
    policy = definition.policy
    if policy.shown is Visibility.LIVE:
        return replace(report, truth_digest=keyed(report.truth_digest))
    if policy.shown is Visibility.LADDER:
        rows = [Row(None, None, None, name, value) for name, value in released.items()]
    else:
        rows = final_rows(definition, report, submitted)
    return replace(
        report,
        truth_digest="",
        detections_digest="",
        scores=Scores(blocks=tuple(row_block(row) for row in rows)),
        specification=to_dict(public_specification(definition)),
    )


def final_rows(definition: Definition, report: Report, submitted: SubmittedNames) -> list[Row]:
    """Rows of a report that a team sees under ``final``, rounded.

    Args:
        definition: The benchmark.
        report: The whole report.
        submitted: Names that the submission has.
    """
    known = submitted | _specified_names(definition)
    named = {entry.name: entry for entry in definition.evaluators}
    scales = definition.scales(named[report.evaluator]) if report.evaluator in named else {}
    measures = {*scales, *(definition.policy.released_measures if scales else ())}
    return [
        row._replace(value=_shown_number(definition.policy, scales, row.measure, row.value))
        for row in report.rows()
        if row.sequence is None
        and row.measure in measures
        and _shows_parts(definition, domain=row.domain, label=row.label)
        and known.has(row.domain, row.label)
    ]


# --- Outcomes: of a team's own detections what it has sent, and one answer for each

_SHOWN_OUTCOMES = np.array(
    [
        CODES[
            outcome
            if outcome in {Outcome.TRUE_POSITIVE, Outcome.IGNORED}
            else Outcome.FALSE_POSITIVE
        ]
        for outcome in OUTCOMES
    ],
    dtype=np.uint8,
)
"""By outcome what a team sees of it: why a detection is wrong would tell what is near it."""


def released_outcomes(caller: Caller, outcomes: Outcomes) -> Outcomes:
    """As much of a submission's outcomes as the caller may see, where it may see any.

    Args:
        caller: The caller.
        outcomes: Outcomes of some of a submission's frames.
    """
    if caller.is_organiser:
        return outcomes
    own = with_used_names(outcomes.take(outcomes.of_side(Side.DETECTIONS)))
    count = len(own)
    # No `replace`: a column that is added to outcomes is not shown unless it is named here.
    return Outcomes(
        sequence_keys=own.sequence_keys,
        label_names=own.label_names,
        sides=own.sides,
        sequences=own.sequences,
        frames=own.frames,
        rows=own.rows,
        labels=own.labels,
        confidences=own.confidences,
        tracks=own.tracks,
        outcomes=_SHOWN_OUTCOMES[own.outcomes],
        partners=np.full(count, NO_PARTNER, dtype=np.int32),
        similarities=np.full(count, np.nan),
        distances_px=np.full(count, np.nan),
        shares=np.zeros(count),
        id_switches=np.zeros(count, dtype=np.bool_),
        fragmentations=np.zeros(count, dtype=np.bool_),
    )


def with_used_names(outcomes: Outcomes) -> Outcomes:
    """The same rows, over tables that hold no name but theirs."""
    sequences, sequence_rows = np.unique(outcomes.sequences, return_inverse=True)
    labels, label_rows = np.unique(outcomes.labels, return_inverse=True)
    rows = {name: getattr(outcomes, name) for name in ROW_COLUMNS}
    rows |= {"sequences": sequence_rows.astype(np.int32), "labels": label_rows.astype(np.int32)}
    return Outcomes(
        tuple(outcomes.sequence_keys[index] for index in sequences.tolist()),
        tuple(outcomes.label_names[index] for index in labels.tolist()),
        **rows,
        columns=outcomes.columns,
    )


def shown_values(policy: Policy, values: Values, scales: Mapping[str, Scale]) -> Values:
    """Ranking measures as a board shows them under ``final`` to others than organisers."""
    return {
        name: _as_float(_shown_number(policy, scales, name, value))
        for name, value in values.items()
    }


def sees_parts(
    caller: Caller, definition: Definition, *, domain: str | None, label: str | None
) -> bool:
    """Whether the caller may see scores of a domain and a class, or of all where they are None."""
    if caller.is_organiser or (domain is None and label is None):
        return True
    return definition.policy.shown is not Visibility.LADDER and _shows_parts(
        definition, domain=domain, label=label
    )


def _shows_parts(definition: Definition, *, domain: str | None, label: str | None) -> bool:
    public = definition.public_names
    return (domain is None or NameKind.SEQUENCES in public) and (
        label is None or NameKind.LABELS in public
    )


def sees_board(caller: Caller, policy: Policy) -> bool:
    """Whether the caller may see the leaderboard."""
    return caller.is_organiser or policy.public_board


def public_specification(definition: Definition) -> BenchmarkSpec:
    """The specification without what tells which frames have truth, and without hidden names."""
    specification, public = definition.specification, definition.public_names
    sequences = specification.sequences if NameKind.SEQUENCES in public else ()
    domains = specification.domains if NameKind.SEQUENCES in public else ()
    return replace(
        specification,
        classes=specification.classes if NameKind.LABELS in public else None,
        sequences=tuple(_public_sequence(entry, public) for entry in sequences),
        domains=tuple(
            entry if NameKind.LABELS in public else replace(entry, classes=None)
            for entry in domains
        ),
    )


def public_definition(caller: Caller, definition: Definition) -> Definition:
    """As much of a benchmark's definition as the caller may see."""
    if caller.is_organiser or definition.policy.shown is Visibility.LIVE:
        return definition
    return replace(definition, specification=public_specification(definition))


def _public_sequence(entry: SequenceSpec, public: frozenset[NameKind]) -> SequenceSpec:
    shown = replace(entry, frames=None, dont_care_frames=FrameRanges())
    if NameKind.FRAME_COUNTS in public:
        return shown
    return replace(shown, frame_count=None, first_frame=0)


def _specified_names(definition: Definition) -> SubmittedNames:
    specification = definition.specification
    domains = {entry.name for entry in specification.domains}
    domains |= {entry.domain for entry in specification.sequences}
    labels = frozenset(map(str.casefold, definition.listed_labels))
    return SubmittedNames(frozenset(domains), labels)


def _shown_number(
    policy: Policy, scales: Mapping[str, Scale], measure: str, value: Number
) -> Number:
    """A score rounded to the policy's step; a count stays one."""
    if value is None:
        return None
    first = next(iter(scales), None)
    if measure == first:
        number = shown(float(value), scales[measure], policy.ladder_step)
    else:
        number = round_digits(float(value), policy.ladder_step)
    return int(number) if isinstance(value, int) else number


def _as_float(value: Number) -> float | None:
    return None if value is None else float(value)

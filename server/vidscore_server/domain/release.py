"""What leaves the server about a hidden benchmark: the one allow-list, whatever the RPC.

Organisers see everything. Everyone else sees what is listed here, and nothing else:

- of a benchmark, if the caller has a token or the policy shows it to everyone: all except the
  revision of its truth (only whether it is complete) and, unless scores are live, which frames are
  evaluated and which are don't-care, because those frames have truth. Sequences, class lists and
  frame counts are shown only if `public_names` includes that kind of name;
- of private sequences: their number and, before the benchmark closes, nothing computed from them:
  everything below is over the public sequences. Once it has closed, the private part of the
  submissions that count for the final order, under the same policy, without rounding;
- of a score under ``ladder`` and ``bootstrap``: the ranking measures over everything, as the
  Ladder released them;
- under ``final``: rows of ranking and released measures, rounded to the step, except rows of single
  sequences. Rows of a class or a domain are shown only if labels or sequences are public, and the
  specification or the submission itself names it;
- of a score by streaming accuracy, over all but private sequences: the same rows under ``final``,
  rounded alike, and the report under ``live``; nothing under ``ladder`` and ``bootstrap``, because
  it would be a second answer about the same truth for each submission;
- of curves under ``final``, if the policy releases them: curves along thresholds, rates and latency
  budgets, for the same parts, rounded as the rows are;
- under ``live``: the report, its digest of the truth keyed;
- of a board: the visible values of each score, by which the board ranks, and its truth revision;
- of a score whose board is not shown yet: nothing;
- of outcomes, if the policy shows a team its own: each detection as the team sent it, and whether
  it is right, wrong or ignored;
- of the clock of a live benchmark: all of it, for it names public sequences only; and how a team's
  own submission answered, which follows from the clock and from what the team did.

Warnings, other curves, counts, and the digests of a report are shown under ``live`` only: a digest
of the scored detections would tell which of them lie on frames with truth.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import orjson
from msgspec import Struct, structs

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
from vidscore_evaluators.report import Curve, Number, Report, Row, Scores, row_blocks
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.ladder import Scale, release, round_digits, shown
from vidscore_server.domain.policy import NameKind, Policy, SubmittedNames, Visibility

Values = Mapping[str, float | None]
"""Ranking measures by name, in rank order."""


class Released(Struct, frozen=True):
    """What was released of a score to its team.

    Attributes:
        values: Ranking measures, as the Ladder released them.
        step: The step to which scores are rounded; 0 for exact ones.
    """

    values: Values
    step: float


def values_of(report: Report, names: Sequence[str]) -> dict[str, float | None]:
    """Ranking measures of a report over everything; None for each that is undefined or missing."""
    return part_values(report, None, None, names) or dict.fromkeys(names)


def values_to_json(values: Values) -> str:
    """Values in the form that the store keeps."""
    return orjson.dumps(dict(values)).decode()


def values_from_json(text: str) -> dict[str, float | None]:
    """Inverse of `values_to_json`; an empty text means no values.

    Raises:
        AttributeError: If it is something else.
        ValueError: If it is something else.
    """
    found: dict[str, float | None] = orjson.loads(text) if text else {}
    if not all(number is None or isinstance(number, int | float) for number in found.values()):
        raise ValueError("no values")
    return found


def released_values(
    policy: Policy, best: Values, new: Values, scales: Mapping[str, Scale], step: float
) -> dict[str, float | None]:
    """The values that are released to a team after a new score.

    Args:
        policy: The benchmark's policy.
        best: The values that were released to the team before; empty if none were.
        new: The new score's ranking measures.
        scales: The scales of the ranking measures, in rank order.
        step: The step in force.
    """
    if not policy.shown.is_ladder or not scales:
        return dict(new)
    before = tuple(best.values()) if list(best) == list(scales) else None
    values = release(before, tuple(new.values()), tuple(scales.values()), step)
    return dict(best) if values is None else dict(zip(scales, values, strict=True))


def releases_differ(before: Definition, after: Definition) -> bool:
    """Whether two definitions release different values for the same scores."""
    names = ("visibility", "ladder_step", "ranking_measure")
    return any(getattr(before.policy, name) != getattr(after.policy, name) for name in names)


def released_report(
    caller: Caller,
    definition: Definition,
    report: Report,
    released: Released,
    submitted: SubmittedNames,
    keyed: Callable[[str], str],
) -> Report:
    """The part of a report that the caller may see.

    Args:
        caller: The caller.
        definition: The benchmark.
        report: The whole report; for callers other than organisers, over the public or the final
            part.
        released: The values that were released to the team, and their step.
        submitted: Names that the submission has.
        keyed: Keys a digest with the server's secret.
    """
    if caller.is_organiser:
        return report
    policy = definition.policy
    if policy.shown is Visibility.LIVE:
        return dataclasses.replace(report, truth_digest=keyed(report.truth_digest))
    if policy.shown.is_ladder:
        rows = [Row(None, None, None, name, value) for name, value in released.values.items()]
    else:
        rows = final_rows(definition, report, submitted, released.step)
    curves = released_curves(definition, report, submitted, released.step)
    return dataclasses.replace(
        report,
        truth_digest="",
        detections_digest="",
        scores=Scores(row_blocks(rows), curves),
        specification=to_dict(public_specification(definition)),
    )


def released_streaming(
    caller: Caller,
    definition: Definition,
    report: Report,
    step: float,
    submitted: SubmittedNames,
    keyed: Callable[[str], str],
) -> Report | None:
    """The part of a report by streaming accuracy that the caller may see; None for nothing.

    Args:
        caller: The caller.
        definition: The benchmark.
        report: The whole report; for callers other than organisers, over the public part.
        step: The step that the score was released to.
        submitted: Names that the submission has.
        keyed: Keys a digest with the server's secret.
    """
    if definition.policy.shown.is_ladder and not caller.is_organiser:
        return None
    return released_report(caller, definition, report, Released({}, step), submitted, keyed)


def final_rows(
    definition: Definition, report: Report, submitted: SubmittedNames, step: float
) -> list[Row]:
    """Rows of a report that a team sees under ``final``, rounded.

    Args:
        definition: The benchmark.
        report: The whole report.
        submitted: Names that the submission has.
        step: The step that the score was released to; 0 rounds nothing.
    """
    known = submitted | _specified_names(definition)
    scales = _scales(definition, report.evaluator)
    measures = {*scales, *(definition.policy.released_measures if scales else ())}
    return [
        row._replace(value=_shown_number(scales, row.measure, row.value, step))
        for row in report.rows()
        if row.sequence is None
        and row.measure in measures
        and _shows_parts(definition, domain=row.domain, label=row.label)
        and known.has(row.domain, row.label)
    ]


_CHOSEN = frozenset({"threshold", "confidence", "latency_budget_s"})
"""Columns whose values come from the rules, the detections and their times, not from the truth."""

CURVES_ALONG = frozenset({*_CHOSEN, "recall", "false_positives_per_frame"})
"""First columns of the curves that are released under ``final``: a curve along frames would tell
which frames have truth."""

MOST_CURVE_POINTS = 1000
"""Maximum number of points of a curve that is released under ``final``; a point per detection would
reveal which detections are correct."""


def released_curves(
    definition: Definition, report: Report, submitted: SubmittedNames, step: float
) -> tuple[Curve, ...]:
    """Curves of a report that callers other than organisers see.

    Args:
        definition: The benchmark.
        report: The whole report.
        submitted: Names that the submission has.
        step: The step that the score was released to; 0 rounds nothing.
    """
    policy = definition.policy
    if policy.shown is Visibility.LIVE:
        return report.curves
    if not policy.releases_curves:
        return ()
    known = submitted | _specified_names(definition)
    scales = _scales(definition, report.evaluator)
    return tuple(
        _rounded_curve(curve, scales, step)
        for curve in report.curves
        if next(iter(curve.columns), "") in CURVES_ALONG
        and len(curve.points()) <= MOST_CURVE_POINTS
        and _shows_parts(definition, domain=curve.domain, label=curve.label)
        and known.has(curve.domain, curve.label)
    )


def knows_part(
    definition: Definition, submitted: SubmittedNames, domain: str | None, label: str | None
) -> bool:
    """Whether a submission's score of a domain and a class may be shown, if its policy shows any.

    Under ``final`` the benchmark or the submission must name both, because it would tell others
    whether the truth has them.
    """
    known = submitted | _specified_names(definition)
    return definition.policy.shown is not Visibility.FINAL or known.has(domain, label)


def part_values(
    report: Report, domain: str | None, label: str | None, names: Sequence[str]
) -> dict[str, float | None] | None:
    """Measures of a domain and a class of a report; None if the report has no such part."""
    rows = {row.measure: row.value for row in report.rows() if row[:3] == (domain, label, None)}
    return {name: as_float(rows.get(name)) for name in names} if rows.keys() & {*names} else None


def _scales(definition: Definition, evaluator: str) -> Mapping[str, Scale]:
    """The ranking measures of an evaluator; none if the benchmark no longer has it."""
    named = {entry.name: entry for entry in definition.evaluators}
    return definition.scales(named[evaluator]) if evaluator in named else {}


def _rounded_curve(curve: Curve, scales: Mapping[str, Scale], step: float) -> Curve:
    """A curve with its values rounded to a step, as rows are."""
    columns = {
        name: values
        if name in _CHOSEN
        else tuple(_shown_number(scales, name, value, step) for value in values)
        for name, values in curve.columns.items()
    }
    return structs.replace(curve, columns=columns)


# --- Outcomes: a team's own detections as it sent them, and one answer for each

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
"""What a team sees for each outcome: the reason of a wrong detection would tell what is near it."""


def released_outcomes(caller: Caller, outcomes: Outcomes) -> Outcomes:
    """The part of a submission's outcomes that is shown to a caller who may see outcomes.

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
    """The same rows, with tables of only the names that they use."""
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


def shown_values(values: Values, scales: Mapping[str, Scale], step: float) -> Values:
    """Ranking measures as a board shows them under ``final`` to callers other than organisers."""
    return {
        name: as_float(_shown_number(scales, name, value, step)) for name, value in values.items()
    }


def sees_benchmark(caller: Caller, policy: Policy) -> bool:
    """Whether the caller may know of a benchmark: without a token, public ones only."""
    return caller.role is not None or policy.public_board_web


def sees_parts(
    caller: Caller, definition: Definition, *, domain: str | None, label: str | None
) -> bool:
    """Whether the caller may see scores of a domain and a class; None stands for all of them."""
    if caller.is_organiser or (domain is None and label is None):
        return True
    return not definition.policy.shown.is_ladder and _shows_parts(
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
    """The specification without hidden names, and without the frames that have truth."""
    specification, public = definition.specification, definition.public_names
    sequences = specification.sequences if NameKind.SEQUENCES in public else ()
    domains = specification.domains if NameKind.SEQUENCES in public else ()
    return dataclasses.replace(
        specification,
        classes=specification.classes if NameKind.LABELS in public else None,
        sequences=tuple(_public_sequence(entry, public) for entry in sequences),
        domains=tuple(
            entry if NameKind.LABELS in public else dataclasses.replace(entry, classes=None)
            for entry in domains
        ),
    )


def public_definition(caller: Caller, definition: Definition) -> Definition:
    """The part of a benchmark's definition that the caller may see."""
    if caller.is_organiser:
        return definition
    policy = dataclasses.replace(definition.policy, private_sequences=())
    public = structs.replace(definition, policy=policy, private_names=(), draw=None)
    if policy.shown is Visibility.LIVE:
        return public
    return structs.replace(public, specification=public_specification(definition))


def _public_sequence(entry: SequenceSpec, public: frozenset[NameKind]) -> SequenceSpec:
    shown = dataclasses.replace(entry, frames=None, dont_care_frames=FrameRanges())
    if NameKind.FRAME_COUNTS in public:
        return shown
    return dataclasses.replace(shown, frame_count=None, first_frame=0)


def _specified_names(definition: Definition) -> SubmittedNames:
    specification = definition.specification
    domains = {entry.name for entry in specification.domains}
    domains |= {entry.domain for entry in specification.sequences}
    labels = frozenset(map(str.casefold, definition.listed_labels))
    return SubmittedNames(frozenset(domains), labels)


def _shown_number(scales: Mapping[str, Scale], measure: str, value: Number, step: float) -> Number:
    """A score rounded to a step; a count stays an integer."""
    if value is None:
        return None
    first = next(iter(scales), None)
    if measure == first:
        number = shown(float(value), scales[measure], step)
    else:
        number = round_digits(float(value), step)
    return int(number) if isinstance(value, int) else number


def as_float(value: Number) -> float | None:
    """The value of a score as a float; None if it is undefined."""
    return None if value is None else float(value)

"""Scores: results of scoring, and their stored form, which never changes."""

from __future__ import annotations

import dataclasses
import json
import logging
import zlib
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import orjson
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Report, Scores, report_from_dict, report_to_dict
from vidscore_server.domain.batches import DAMAGED_SCORE, UNREADABLE, inflate
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import (
    Values,
    values_from_json,
    values_of,
)
from vidscore_server.logs import log_lasting, places_of
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import (
    ReleaseRecord,
    ScoreRecord,
)

T = TypeVar("T")

_SUBMITTED = "submitted"
_STREAMING = "streaming"
LEAST_REPORT_BYTES = 16 << 20
"""Unpacked size in bytes that is allowed for every report."""

GREATEST_COMPRESSION = 256
"""Maximum ratio of unpacked to packed size.

Rows that differ only in figures reach 16; curves of thousands of labels without detections 90.
"""

MAXIMUM_SCORES = 10_000
"""Maximum number of scores of a submission that are searched."""


class ReportParts(Enum):
    """What a page needs of the reports of scores, which may have 100,000 curves."""

    ALL = "all"
    WITHOUT_CURVES_OF_PARTS = "all but the curves of single domains and labels"
    NONE = "only the name of the evaluator"


class PackedReport(Struct, frozen=True):
    """A report over a part of the data.

    Attributes:
        report: The report in its stored form.
        values: Its ranking measures.
    """

    report: bytes
    values: dict[str, float | None]


class Result(Struct, frozen=True):
    """Result of scoring a submission once, ready to be stored.

    Attributes:
        evaluator: The evaluator.
        truth_revision: Revision of the truth that it was scored under.
        configuration: Digest of the evaluator with version, parameters and specification.
        partial: Whether the truth was incomplete.
        parts: Its reports: over everything and, if some sequences are private, over each part.
        estimate: Bootstrap estimate of the ranking measures, which is released in their place; None
            if the policy has none.
        warnings: Doubts about the submission, found with the truth.
    """

    evaluator: Evaluator[Any]
    truth_revision: int
    configuration: str
    partial: bool
    parts: Mapping[Portion, PackedReport]
    estimate: dict[str, float | None] | None = None
    warnings: tuple[str, ...] = ()

    @property
    def answered(self) -> Values:
        """The ranking measures that go to the Ladder: the estimate if there is one."""
        if self.estimate is not None:
            return self.estimate
        return self.parts.get(Portion.PUBLIC, self.parts[Portion.WHOLE]).values


def pack_report(
    definition: Definition,
    evaluator: Evaluator[Any],
    report: Report,
    submitted: SubmittedNames,
    streaming: Report | None,
) -> PackedReport:
    """Pack a report for the store, together with the names that the submission has.

    Args:
        definition: The benchmark.
        evaluator: The evaluator.
        report: The report.
        submitted: The names.
        streaming: The report by streaming accuracy; None if there is none.
    """
    values = values_of(report, list(definition.ranking(evaluator)))
    document = report_to_dict(report)
    document[_SUBMITTED] = {
        "domains": sorted(submitted.domains),
        "labels": sorted(submitted.labels),
    }
    if streaming is not None:
        document[_STREAMING] = report_to_dict(streaming)
    return PackedReport(_pack(orjson.dumps(document)), values)


def _pack(data: bytes) -> bytes:
    """The bytes of a report compressed, but not beyond the ratio up to which they are read."""
    packed = zlib.compress(data)
    return packed if len(data) <= _most_bytes(packed) else zlib.compress(data, 0)


def _most_bytes(packed: bytes) -> int:
    """Maximum number of bytes that a stored report may hold."""
    return max(LEAST_REPORT_BYTES, GREATEST_COMPRESSION * len(packed))


def unpack_report(record: ScoreRecord, portion: Portion = Portion.WHOLE) -> Report:
    """The report of a score.

    Raises:
        StoreDamagedError: If it is not what was stored, or its unpacked size exceeds the limit.
    """
    return unpack_score(record, portion)[0]


def unpack_score(
    record: ScoreRecord, portion: Portion = Portion.WHOLE
) -> tuple[Report, SubmittedNames]:
    """The report of a score, and the names that the submission has; no names if none are stored.

    For a part that the score does not have, the report has no scores.

    Raises:
        StoreDamagedError: As for `unpack_report`.
    """
    packed = _PACKED[portion](record)
    if packed is not None:
        return report_of(packed)
    whole, submitted = report_of(record.report)
    bare = dataclasses.replace(whole, scores=Scores(()), truth_digest="", detections_digest="")
    return bare, submitted


def unpack_streaming(record: ScoreRecord, portion: Portion) -> Report | None:
    """The report of a score by streaming accuracy; None if there is none.

    Raises:
        StoreDamagedError: As for `unpack_report`.
    """
    packed = _PACKED[portion](record)
    streaming = None if packed is None else _document(packed).get(_STREAMING)
    return None if streaming is None else report_from_dict(streaming)


def report_of(packed: bytes) -> tuple[Report, SubmittedNames]:
    """A report and names from their stored form; see `unpack_score`."""
    document = _document(packed)
    document.pop(_STREAMING, None)
    names = {kind: frozenset(kept) for kind, kept in document.pop(_SUBMITTED, {}).items()}
    return report_from_dict(document), SubmittedNames(**names)


def _document(packed: bytes) -> dict[str, Any]:
    try:
        document: dict[str, Any] = json.loads(inflate(packed, _most_bytes(packed)))
    except (StoreDamagedError, ValueError):
        raise StoreDamagedError(DAMAGED_SCORE) from None
    return document


def readable(record: ScoreRecord | ReleaseRecord, read: Callable[[], T]) -> T | None:
    """The result of reading a score or its release; None if it is damaged, which is logged.

    Boards omit a damaged score; once its submission is scored again, the new score counts.
    """
    try:
        return read()
    except UNREADABLE as error:
        name = str(SubmissionName(record.benchmark, record.submission))
        log_lasting(logging.ERROR, "score is damaged", submission=name, places=places_of(error))
        return None


def submitted_names(detections: Annotations) -> SubmittedNames:
    """Names of the domains and labels that detections have."""
    domains = frozenset(key.domain for key in detections.sequences)
    return SubmittedNames(domains, frozenset(map(str.casefold, detections.labels)))


_PACKED: Mapping[Portion, Callable[[ScoreRecord], bytes | None]] = {
    Portion.WHOLE: lambda record: record.report,
    Portion.PUBLIC: lambda record: record.public_report,
    Portion.PRIVATE: lambda record: record.private_report,
}
_VALUES: Mapping[Portion, Callable[[ScoreRecord], str]] = {
    Portion.WHOLE: lambda record: record.values,
    Portion.PUBLIC: lambda record: record.public_values,
    Portion.PRIVATE: lambda record: record.private_values,
}


def ranking_values(
    score: ScoreRecord, names: Sequence[str], portion: Portion = Portion.WHOLE
) -> dict[str, float | None]:
    """Current ranking measures of a score over everything, even those that did not rank then."""
    kept = kept_values(score, portion)
    if not set(names) <= kept.keys():
        kept = values_of(unpack_report(score, portion), names)
    return {name: kept[name] for name in names}


def kept_values(score: ScoreRecord, portion: Portion) -> dict[str, float | None]:
    """Ranking measures of a score over everything, as they were when it was made."""
    return values_from_json(_VALUES[portion](score))


def released_step(definition: Definition, evaluator: Evaluator[Any], score: ScoreRecord) -> float:
    """The step that a score was released to; the present one if none was stored."""
    return score.released_step or definition.step(evaluator)

"""The size of a report, before it is made: detections may have any number of labels.

A report has rows and curves of each domain, each label and each pair of them. With invented labels
a few megabytes of detections would make one of many gigabytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.tally import Table, Tally
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.settings import Settings

THRESHOLDS_PER_PART = 20
"""Thresholds of an evaluator that take about as much memory as a domain or a label."""

_FOUND = "a report over more domains and labels"
"""It does not say over how many, which may follow from hidden truth."""


def refuse_large_report(settings: Settings, evaluator: Evaluator[Any], tally: Tally | None) -> None:
    """Refuse to make a report of both sides, to a caller who may know their names.

    Raises:
        LimitError: If it would be too large.
    """
    tables = () if tally is None else tally.tables.values()
    _refuse(settings, evaluator, max(map(_pairs_in, tables), default=0))


def refuse_many_names(
    settings: Settings, definition: Definition, submitted: SubmittedNames
) -> None:
    """Refuse a submission by its own names alone: no answer may depend on those of the truth.

    Raises:
        LimitError: If a report over them would be too large.
    """
    labels = 0 if definition.label_use is LabelUse.IGNORED else len(submitted.labels)
    for evaluator in definition.evaluators:
        _refuse(settings, evaluator, labels * max(1, len(submitted.domains)))


def _refuse(settings: Settings, evaluator: Evaluator[Any], pairs: int) -> None:
    values = parameter_values(evaluator.parameters).values()
    lists = [value for value in values if isinstance(value, tuple) and not _has_texts(value)]
    parts = pairs * max(1, max(map(len, lists), default=0) // THRESHOLDS_PER_PART)
    settings.check_limit("maximum_report_parts", parts, _FOUND)


def _has_texts(values: tuple[object, ...]) -> bool:
    return any(isinstance(value, str) for value in values)


def _pairs_in(table: Table) -> int:
    """Number of different pairs of a domain and a label in a table."""
    columns = [name for name in ("domain", "class") if name in table.schema.texts]
    if not columns:
        return 0
    keys = np.zeros(table.row_count, dtype=np.int64)
    for name in columns:
        keys = keys * len(table.vocabulary) + table.codes(name)
    return len(np.unique(keys))

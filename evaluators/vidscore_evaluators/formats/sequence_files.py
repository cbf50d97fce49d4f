"""Formats with a file for each sequence: which files there are, and whether both sides fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from vidscore_evaluators.annotations import SequenceKey, concatenate
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.fault_list import FaultList
from vidscore_evaluators.formats.packed import InputPath
from vidscore_evaluators.formats.source import (
    PairReading,
    ReadLimits,
    Source,
    join_places,
    listed_names,
    sequence_name,
)
from vidscore_evaluators.formats.texts import EXPECTED_TEXT, clean_text
from vidscore_evaluators.report import ReportWarning

Files = Mapping[SequenceKey, InputPath]
"""The file of each sequence, in order."""


def check_files(
    files: Files, root: InputPath, layout: str, limits: ReadLimits, advice: str | None = None
) -> None:
    """Refuse a folder with no files, too many, or such names as no sequence can have.

    Args:
        files: The files.
        root: The folder.
        layout: What should be in it.
        limits: How many there may be.
        advice: What to do where there are none.

    Raises:
        InputError: With every fault.
    """
    faults = [
        Fault(repr(path.name), EXPECTED_TEXT, source=str(path.parent))
        for key, path in files.items()
        if any(clean_text(name) != name for name in key)
    ]
    if len(files) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        faults.append(Fault(f"{len(files)} files", expected, source=str(root)))
    if not files:
        faults.append(Fault("nothing of the kind", layout, source=str(root), advice=advice))
    if faults:
        raise InputError(faults)


def join_sources(parts: Sequence[Source], name: str) -> Source:
    """Put what was read from single files of one format into one.

    Args:
        parts: At least one source, each with sequences of its own, places and no warnings.
        name: What the whole is called.
    """
    return replace(
        parts[0],
        annotations=concatenate([part.annotations for part in parts]),
        name=name,
        places=join_places([part.places for part in parts if part.places is not None]),
    )


def pair_sequences(
    truth: Source,
    detections: Source,
    known: frozenset[SequenceKey],
    file_of: Callable[[SequenceKey], str],
) -> PairReading:
    """Compare the files of detections with the sequences of the truth.

    Args:
        truth: The truth.
        detections: The detections.
        known: Sequences that detections may belong to.
        file_of: Name of the file of a sequence of detections, for error messages.
    """
    faults = FaultList()
    table = detections.annotations.sequences
    unknown = frozenset(table) - known
    for key in sorted(unknown):
        expected = "a sequence of the truth or of the manifest"
        faults.add(Fault(f"sequence {sequence_name(key)}", expected, source=file_of(key)))
    missing = sorted({*truth.annotations.sequences} - {*table})
    if missing:
        names = listed_names([sequence_name(key) for key in missing])
        message = f"sequences without a detection file count as without detections: {names}"
        warning = ReportWarning("missing_detection_file", message, len(missing))
        detections = replace(detections, warnings=(*detections.warnings, warning))
    if unknown:
        strange = np.array([key in unknown for key in table], dtype=np.bool_)
        dropped = strange[detections.annotations.frame_sequences]
        detections = detections.without_frames(dropped, unknown)
    return PairReading(detections, faults, len(unknown))


def pair_text_files(
    truth: Source, detections: Source, known: frozenset[SequenceKey]
) -> PairReading:
    """The same for text files, of which a single one goes with a single sequence of the truth."""
    only = truth.annotations.sequences
    found = detections.annotations
    alone = detections.places is not None and detections.places.sources == (detections.name,)
    if alone and len(only) == 1 and len(found.sequences) == 1:
        renamed = replace(found, sequences=only)
        return PairReading(replace(detections, annotations=renamed), FaultList())
    return pair_sequences(
        truth, detections, known, lambda key: str(Path(detections.name, f"{key.sequence}.txt"))
    )

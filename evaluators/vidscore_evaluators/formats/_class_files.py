"""Result files of single images, one for each class: a row is ``image confidence coordinates``.

PASCAL VOC uses them, and DOTA after it. A row has the name of an image, as
`vidscore_evaluators.formats._images` reads it, the confidence, and the coordinates of a detection,
separated by blanks; the class is in the name of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import IMAGES, NO_TRACK, Annotations, SequenceKey
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._csv import normalised_rows
from vidscore_evaluators.formats._files import (
    InputPath,
    first_head,
    first_line,
    is_folder,
    read_bytes,
    visible_entries,
)
from vidscore_evaluators.formats._format import file_name, refuse_no_words, shortest_number
from vidscore_evaluators.formats._images import EXPECTED_NAME, ImageFrame, frame_of_name
from vidscore_evaluators.formats._row_frames import RowColumns, index_frames
from vidscore_evaluators.formats._sequence_files import (
    check_count,
    read_plain_files,
    to_reading,
)
from vidscore_evaluators.formats._table import Kind, RowChecks, RowTable, StringColumn, parse_number
from vidscore_evaluators.formats.source import (
    SWAPPED,
    FaultList,
    Files,
    Reading,
    ReadLimits,
)

FilesOfFolder = Callable[[InputPath], Sequence[InputPath]]


class ClassFiles(Struct, frozen=True):
    """The result files of a format.

    Attributes:
        format: Name of the format.
        name: Pattern of a file's name without its suffix ``.txt``; its group is the class.
        example: What a file should be, in words, with an example of its name.
        corners: Names of the coordinates.
    """

    format: str
    name: re.Pattern[str]
    example: str
    corners: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return ("image", "confidence", *self.corners)

    def is_one(self, file: InputPath) -> bool:
        """Whether a file has the name of a result file."""
        return file.suffix == ".txt" and self.name.fullmatch(file.stem) is not None

    def of_folder(self, folder: InputPath) -> list[InputPath]:
        """The result files of a folder, by name."""
        return [file for file in visible_entries(folder) if self.is_one(file)]

    def match_folder(self, folder: InputPath) -> bool:
        """Whether the first result file of a folder that has rows has valid ones."""
        return self.match_rows(first_head(self.of_folder(folder), self.example))

    def match_rows(self, head: bytes) -> bool:
        """Whether a first row has a name and the right number of numbers."""
        fields = first_line(head).split()
        return len(fields) == len(self.columns) and all(
            parse_number(text) is not None for text in fields[1:]
        )

    def read(
        self, path: InputPath, layout: str, limits: ReadLimits, truth_files: FilesOfFolder
    ) -> Reading:
        """Read files of detections.

        Args:
            path: The given path: their folder, or the only file.
            layout: Description of the files that the path should have, for error messages.
            limits: Limits of their number and size.
            truth_files: Finds the files of the truth in a folder.

        Raises:
            InputError: If there are no files, or a file has another name, repeats the class of
                another file, or cannot be read at all; with every fault.
        """
        files = self.of_folder(path) if is_folder(path) else [path]
        check_side(files, path, layout, limits, truth_files)
        labels, texts = self._contents(files, limits)
        kinds = [Kind.STRING, *[Kind.NUMBER] * (1 + len(self.corners))]
        rows = read_plain_files(files, texts, self.columns, kinds)
        image = rows.table.strings["image"]
        frames = [frame_of_name(name) for name in image.values]
        checks = RowChecks(rows.table)
        unknown = np.array([frame is None for frame in frames], dtype=np.bool_)[image.codes]
        checks.refuse(unknown, "image", image, EXPECTED_NAME)
        checks.require_finite("confidence")
        checks.require_coordinates(self.corners)
        to_columns = partial(self._columns, frames=frames, labels=labels)
        return to_reading(rows, checks, to_columns, str(path), self.format)

    def _contents(
        self, files: Sequence[InputPath], limits: ReadLimits
    ) -> tuple[list[str], list[bytes]]:
        """The class and the rows of each file."""
        labels: list[str] = []
        texts, wrong = [], FaultList()
        for file in files:
            name = self.name.fullmatch(file.stem)
            if name is None:
                wrong.add(Fault(f"the name {file.name!r}", self.example, source=str(file)))
                continue
            if name[1] in labels:
                again = f"class {name[1]!r} again"
                wrong.add(Fault(again, "a file for each class", source=str(file)))
            labels.append(name[1])
            try:
                data = read_bytes(file, self.example, limits)
                texts.append(normalised_rows(data, str(file), blanks=True))
            except InputError as error:
                wrong.extend(error.faults)
        if wrong:
            raise InputError(wrong.listed())
        return labels, texts

    def _columns(
        self, table: RowTable, frames: Sequence[ImageFrame | None], labels: Sequence[str]
    ) -> tuple[RowColumns, RowTable]:
        """The detections; invalid names have no rows left, so any frame serves for them."""
        some = next(filter(None, frames), (SequenceKey("", IMAGES), 0))
        sequences, of_name, numbers = index_frames([frame or some for frame in frames])
        codes = table.strings["image"].codes
        count = len(table)
        rows = RowColumns(
            sequences=sequences,
            sequence_of_row=of_name[codes],
            frame_numbers=numbers[codes],
            frame_flags=np.zeros(count, dtype=np.uint8),
            holds_object=np.ones(count, dtype=np.bool_),
            coordinates=np.stack([table.numbers[name] for name in self.corners], axis=1),
            labels=StringColumn(table.source_of_row, tuple(labels)),
            confidences=table.numbers["confidence"],
            track_ids=np.full(count, NO_TRACK, dtype=np.int64),
            flags=np.zeros(count, dtype=np.uint8),
        )
        return rows, table


def check_side(
    files: Sequence[InputPath],
    path: InputPath,
    layout: str,
    limits: ReadLimits,
    others: FilesOfFolder,
) -> None:
    """Refuse no files of a side, or too many; `others` finds those of the other side."""
    advice = SWAPPED if not files and others(path) else None
    check_count(len(files), path, layout, limits, advice)


def write_class_files(
    annotations: Annotations, prefix: str, names: Sequence[str], labels: Sequence[str]
) -> Files:
    """Detections as result files.

    Args:
        annotations: The detections.
        prefix: Prefix of the file names, before the class.
        names: The name of each frame's image.
        labels: The name of each label's class.

    Raises:
        InputError: If a class cannot be part of a file name, or a name is not one word.
    """
    refuse_no_words(names, "sequence", "an image's name")
    texts: dict[str, list[str]] = {label: [] for label in labels}
    rows = zip(
        annotations.object_frames.tolist(),
        annotations.label_indices.tolist(),
        annotations.confidences.tolist(),
        annotations.coordinates.tolist(),
        strict=True,
    )
    for frame, label, confidence, coordinates in rows:
        values = " ".join(str(shortest_number(value)) for value in (confidence, *coordinates))
        texts[labels[label]].append(f"{names[frame]} {values}\n")
    return {
        f"{prefix}{file_name(label, 'class')}.txt": "".join(lines).encode()
        for label, lines in texts.items()
    }

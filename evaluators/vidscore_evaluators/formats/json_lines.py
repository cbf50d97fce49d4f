"""JSON lines: one frame per line, as running programs write them; `vidscore pipe` reads them.

``{"sequence": "a", "frame": 12, "time_s": 1732270000.5, "objects": [{"label": "car", "box": [x1,
y1, x2, y2], "confidence": 0.9, "track": 3}]}``, by the JSON Schema in ``json_lines.schema.json``.
``point`` and ``corners`` take the place of ``box`` for the other shapes, ``flags`` of a frame or an
object has the words of generic CSV as an array, and ``numbers`` further numbers of an object by
name. ``mask`` has the pixels of an object, ``{"size": [height, width], "counts": ...}`` with runs
or COCO's text of them; without another box, its bounding box is used. Masks are kept if all
objects have one. Each frame occurs once and completely, in any order; empty lines are ignored.

`LineReader` takes bytes in blocks of any size, so that a file and a pipe are read by the same
code.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from typing import Any

import numpy as np
import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    Annotations,
    FrameFlag,
    SequenceKey,
    Side,
    concatenate,
    empty_annotations,
    frame_keys,
    frame_name,
    with_arity,
)
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._files import InputPath, read_bytes
from vidscore_evaluators.formats._format import CAPACITY, Format, WriteOptions, Writer, frame_order
from vidscore_evaluators.formats._heads import JSON_LINES
from vidscore_evaluators.formats._json import no_garbage_collection
from vidscore_evaluators.formats._line_columns import (
    SeenFrames,
    columns_of_lines,
    documents_of_lines,
)
from vidscore_evaluators.formats._line_rules import (
    MAXIMUM_OBJECTS,
    OBJECT_FLAGS,
    SHAPE_NAMES,
    line_faults,
)
from vidscore_evaluators.formats._times import ARRIVAL, COLUMN, time_warnings
from vidscore_evaluators.formats.generic import FRAME_FLAG
from vidscore_evaluators.formats.source import (
    FaultList,
    Files,
    PairReading,
    Reading,
    ReadLimits,
    Source,
    SourcePositions,
)
from vidscore_evaluators.mask_forms import compressed_texts
from vidscore_evaluators.names import counted
from vidscore_evaluators.validation import MAXIMUM_FRAME_NUMBER

NAME = JSON_LINES
MAXIMUM_LINE_BYTES = 1 << 20
BLOCK_LINES = 4096
"""Number of lines that are parsed together; their parsed values are freed before the next ones."""

_EXPECTED = "a file of JSON lines, one frame per line"


def schema_text() -> str:
    """The JSON Schema of a line."""
    file = resources.files("vidscore_evaluators.formats") / "json_lines.schema.json"
    return file.read_text(encoding="utf-8")


class LineBlock(Struct, frozen=True, eq=False):
    """The result of reading some lines.

    Attributes:
        frames: The valid frames, in their order. As long as no line has had an object, their shape
            is unknown, and a default is used.
        lines: (F,) line of each frame, from 1.
        faults: Faults of the other lines, by line.
    """

    frames: Annotations
    lines: IntArray
    faults: Sequence[Fault] = ()

    @property
    def faulty_lines(self) -> int:
        """Number of lines that break a rule."""
        return len({fault.line for fault in self.faults})

    def at_lines(self, faults: Sequence[Fault]) -> list[Fault]:
        """Faults of rows of the frames, such as an evaluator's, as faults of their lines."""
        return [
            replace(
                fault,
                source=None,
                entry=None,
                field=None,
                line=None if fault.entry is None else int(self.lines[fault.entry]),
            )
            for fault in faults
        ]

    def before(self, line: int) -> Annotations:
        """The frames of the lines before one."""
        return self.frames.take_frames(self.lines < line)


class LineReader(Struct, eq=False):
    """Reads frames from bytes that come in blocks.

    Attributes:
        name: Name of the source in messages; None for a source that needs none.
        arity: Coordinates of the objects; None until a line has had an object.
    """

    name: str | None = None
    arity: int | None = None
    _line: int = 0
    _tail: bytes = b""
    _refused: bool = False
    _seen: SeenFrames = field(default_factory=SeenFrames)

    def feed(self, data: bytes) -> LineBlock:
        """Read the lines that end in these bytes; the start of an unfinished line is kept.

        A line that is too long is refused before its end, which may never come.
        """
        first, *others = data.split(b"\n")
        lines = others if self._refused else [self._tail + first, *others]
        if lines:
            self._tail = lines.pop()
            self._refused = len(self._tail) > MAXIMUM_LINE_BYTES + len(codecs.BOM_UTF8)
        if self._refused and self._tail:
            lines.append(self._tail)
            self._tail = b""
        return self._read(lines)

    def finish(self) -> LineBlock:
        """Read a last line without a line end."""
        lines, self._tail = [self._tail], b""
        return self._read(lines)

    def _read(self, lines: list[bytes]) -> LineBlock:
        parts, places, faults = [], [], list[Fault]()
        for start in range(0, len(lines), BLOCK_LINES):
            with no_garbage_collection():
                frames, numbers = self._parse(lines[start : start + BLOCK_LINES], faults)
            parts.append(frames)
            places.append(numbers)
        if not parts:
            return LineBlock(empty_annotations(self.arity or BOX), np.zeros(0, dtype=np.int64))
        joined = concatenate([with_arity(part, self.arity) for part in parts])
        return LineBlock(joined, np.concatenate(places), faults)

    def _parse(self, lines: Sequence[bytes], faults: list[Fault]) -> tuple[Annotations, IntArray]:
        """Frames of lines and the line of each; adds the faults of the others."""
        documents, numbers = self._documents(lines, faults)
        self._line += len(lines)
        try:
            frames = columns_of_lines(documents, self.arity)
        except ValueError:
            good = self._explain(documents, numbers, faults)
            documents = [documents[row] for row in good]
            numbers = [numbers[row] for row in good]
            frames = columns_of_lines(documents, self.arity)
        frames, places = self._without_repeats(frames, numbers, faults)
        if frames.object_count:
            self.arity = frames.arity
        faults.sort(key=lambda fault: fault.line or 0)
        return frames, places

    def _documents(
        self, lines: Sequence[bytes], faults: list[Fault]
    ) -> tuple[list[Any], list[int]]:
        """The documents of lines that are not blank, and their line numbers; adds JSON faults."""
        texts, numbers = [], []
        for number, line in enumerate(lines, self._line + 1):
            text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
            if len(text) > MAXIMUM_LINE_BYTES or (text and not text.isspace()):
                texts.append(text)
                numbers.append(number)
        if max(map(len, texts), default=0) <= MAXIMUM_LINE_BYTES:
            with suppress(ValueError):
                return documents_of_lines(texts), numbers
        documents: list[Any] = []
        good: list[int] = []
        for number, text in zip(numbers, texts, strict=True):
            try:
                documents.append(_document(text))
                good.append(number)
            except ValueError as error:
                faults.append(self._fault(number, Fault(*error.args)))
        return documents, good

    def _explain(
        self, documents: Sequence[Any], numbers: Sequence[int], faults: list[Fault]
    ) -> list[int]:
        """Add every fault; returns the rows of the lines without one."""
        good: list[int] = []
        arity = self.arity
        for row, (document, number) in enumerate(zip(documents, numbers, strict=True)):
            found = list(line_faults(document, arity))
            faults.extend(self._fault(number, fault) for fault in found)
            if not found:
                good.append(row)
                objects = columns_of_lines([document], arity)
                arity = objects.arity if objects.object_count else arity
        return good

    def _without_repeats(
        self, frames: Annotations, numbers: Sequence[int], faults: list[Fault]
    ) -> tuple[Annotations, IntArray]:
        places = np.array(numbers, dtype=np.int64)
        fresh = np.ones(frames.frame_count, dtype=np.bool_)
        for row, key in enumerate(frame_keys(frames)):
            if not self._seen.add(*key):
                fresh[row] = False
                repeat = Fault(f"{frame_name(*key)} again", "each frame once", field="frame")
                faults.append(self._fault(numbers[row], repeat))
        return frames.take_frames(fresh), places[fresh]

    def _fault(self, line: int, fault: Fault) -> Fault:
        return replace(fault, source=self.name, line=line)


def _document(line: bytes) -> Any:
    """The document of a line.

    Raises:
        ValueError: If it is too long, or not JSON; with the found and the expected.
    """
    if len(line) > MAXIMUM_LINE_BYTES:
        raise ValueError("a longer line", f"at most {MAXIMUM_LINE_BYTES} bytes")
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        found = f"invalid JSON ({error.msg}, character {error.colno})"
        raise ValueError(found, "an object, one frame per line") from None


# --- files -----------------------------------------------------------------------------------


def read(path: InputPath, side: Side, limits: ReadLimits) -> Reading:
    """Read a file.

    Raises:
        InputError: If there is no such file, or it is too large.
    """
    del side
    reader = LineReader(str(path))
    blocks = [reader.feed(read_bytes(path, _EXPECTED, limits)), reader.finish()]
    faults = FaultList()
    for block in blocks:
        faults.extend(block.faults)
    skipped = sum(block.faulty_lines for block in blocks)
    return Reading(source_of_blocks(reader, blocks), faults, skipped)


def source_of_blocks(reader: LineReader, blocks: Sequence[LineBlock]) -> Source:
    """The frames of blocks, in ascending order, with their line numbers."""
    name = reader.name or "standard input"
    nothing = LineBlock(empty_annotations(reader.arity or BOX), np.zeros(0, dtype=np.int64))
    blocks = [*blocks, nothing]
    frames = concatenate([with_arity(block.frames, reader.arity) for block in blocks])
    order = frame_order(frames)
    annotations = frames.take_frames(order)
    positions = SourcePositions(
        sources=(name,),
        source_of_frame=np.zeros(len(order), dtype=np.int64),
        positions=np.concatenate([block.lines for block in blocks])[order],
        position_name="line",
    )
    return Source(
        annotations,
        name,
        NAME,
        positions,
        time_warnings(annotations, name),
        tells_shape=annotations.object_count > 0,
    )


def pair(truth: Source, detections: Source, known: frozenset[SequenceKey]) -> PairReading:
    """Give detections without any object the shape of the truth."""
    del known
    fitted = with_arity(detections.annotations, truth.annotations.arity)
    return PairReading(replace(detections, annotations=fitted))


def _write(annotations: Annotations, side: Side, options: WriteOptions) -> Files:
    del options
    objects = _written_objects(annotations, side)
    starts = annotations.frame_starts.tolist()
    seconds = {
        key: [None if value != value else value for value in column.tolist()]  # noqa: PLR0124
        for key, column in (
            (COLUMN, annotations.frame_times_s),
            (ARRIVAL, annotations.frame_arrivals_s),
        )
        if column is not None
    }
    lines = []
    marked = ((annotations.frame_flags & FrameFlag.DONT_CARE) != 0).tolist()
    for row, (key, number) in enumerate(frame_keys(annotations)):
        frame: dict[str, object] = {"domain": key.domain} if key.domain else {}
        frame |= {"sequence": key.sequence, "frame": number}
        frame |= {name: value[row] for name, value in seconds.items() if value[row] is not None}
        if marked[row]:
            frame["flags"] = [FRAME_FLAG]
        frame["objects"] = objects[starts[row] : starts[row + 1]]
        lines.append(orjson.dumps(frame))
    _check_lines(annotations, lines)
    return {"": b"".join(line + b"\n" for line in lines)}


def _check_lines(annotations: Annotations, lines: Sequence[bytes]) -> None:
    """Refuse frames that are too large for a line.

    Raises:
        InputError: With each of them.
    """
    expected = f"at most {MAXIMUM_OBJECTS} objects and {MAXIMUM_LINE_BYTES} bytes in a line"
    faults = [
        Fault(
            f"{counted(count, 'object')}, {len(line)} bytes in {annotations.frame_name(row)}",
            expected,
            advice="write parquet or generic-csv in its place",
        )
        for row, (count, line) in enumerate(
            zip(annotations.object_counts.tolist(), lines, strict=True)
        )
        if count > MAXIMUM_OBJECTS or len(line) > MAXIMUM_LINE_BYTES
    ]
    if faults:
        raise InputError(faults)


def _written_objects(annotations: Annotations, side: Side) -> list[dict[str, object]]:
    shape = SHAPE_NAMES[annotations.arity]
    masks, own_box = _written_masks(annotations)
    columns = {name: column.tolist() for name, column in sorted(annotations.columns.items())}
    written: list[dict[str, object]] = []
    for row, (label, coordinates, confidence, track, flags) in enumerate(
        zip(
            annotations.label_indices.tolist(),
            annotations.coordinates.tolist(),
            annotations.confidences.tolist(),
            annotations.track_ids.tolist(),
            annotations.flags.tolist(),
            strict=True,
        )
    ):
        text = annotations.labels[label]
        entry: dict[str, object] = {"label": text} if text else {}
        if not own_box[row]:
            entry[shape] = [_shortest_number(value) for value in coordinates]
        if masks:
            entry["mask"] = masks[row]
        if side is Side.DETECTIONS:
            entry["confidence"] = _shortest_number(confidence)
        if track != NO_TRACK:
            entry["track"] = track
        if flags:
            entry["flags"] = [word for word, flag in OBJECT_FLAGS.items() if flags & flag]
        numbers = {name: column[row] for name, column in columns.items()}
        known = {name: value for name, value in numbers.items() if value == value}  # noqa: PLR0124
        if known:
            entry["numbers"] = known
        written.append(entry)
    return written


def _written_masks(annotations: Annotations) -> tuple[list[dict[str, object]], list[bool]]:
    """The mask of each object, and whether its box is the mask's bounding box."""
    masks = annotations.masks
    if masks is None:
        return [], [False] * annotations.object_count
    written: list[dict[str, object]] = [
        {"size": size, "counts": text}
        for size, text in zip(masks.sizes.tolist(), compressed_texts(masks), strict=True)
    ]
    return written, (masks.boxes() == annotations.coordinates).all(axis=1).tolist()


def _shortest_number(value: float) -> int | float:
    """A number; integers that every reader parses exactly are written without a point."""
    return int(value) if value.is_integer() and abs(value) <= MAXIMUM_FRAME_NUMBER else value


FORMAT = Format(
    name=NAME,
    title="JSON lines: an object for each frame, one per line, one file",
    read=read,
    writer=Writer(
        folder=False,
        capacity=CAPACITY,
        write=_write,
    ),
    pair=pair,
)

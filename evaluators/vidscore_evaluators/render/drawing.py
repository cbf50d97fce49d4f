"""Draw chosen frames of a scored input, one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.alignment import align, resolve
from vidscore_evaluators.annotations import SequenceKey, sequence_name
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import FORMATS, Pair
from vidscore_evaluators.outcome_table import OperatingPoint, concatenate_outcomes
from vidscore_evaluators.render.media import FRAMES_PER_S, Blank, SequenceMedia, find_media
from vidscore_evaluators.render.picture import Drawing, draw_frame
from vidscore_evaluators.render.scored import ScoredFrames
from vidscore_evaluators.render.writers import PictureWriter
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.scoring import outcomes_of_pair
from vidscore_evaluators.specification import BenchmarkSpec

LEAST_GUESS_PX, LARGEST_GUESS_PX = 48, 16_384
"""Least side, and upper bound on the longer side, of a canvas whose size is guessed from its
objects; of the least, the words below the picture can still be read."""


class Chosen(Struct, frozen=True):
    """Media of all chosen frames.

    Attributes:
        of: Media by sequence.
        guessed: Sequences whose canvas fits their objects, because the size of their
            images is unknown.
    """

    of: Mapping[SequenceKey, SequenceMedia]
    guessed: tuple[SequenceKey, ...] = ()

    @property
    def frames_per_s(self) -> float:
        """Frame rate of the first video that states one."""
        said = (media.frames_per_s for media in self.of.values())
        return next((speed for speed in said if speed is not None), FRAMES_PER_S)


def scored_frames(
    evaluator: Evaluator[Any],
    pair: Pair,
    specification: BenchmarkSpec,
    at: OperatingPoint,
    *,
    progress: Progress | None,
) -> ScoredFrames:
    """The outcomes of an evaluator for a pair, by frame.

    Args:
        evaluator: An evaluator that has outcomes.
        pair: Both sides.
        specification: The benchmark's specification.
        at: Point on the evaluator's curves to draw.
        progress: Called with (frames done, frames in all).

    Raises:
        InputError: If the evaluator's rules forbid something.
        ParameterError: If the evaluator has no outcomes, or none at this point.
    """
    tables = outcomes_of_pair(evaluator, pair, specification, at, progress=progress)
    outcomes = concatenate_outcomes([evaluator.selection.of_outcomes(table) for table in tables])
    truth = resolve(specification, pair.truth.annotations)
    return ScoredFrames(align(truth, pair.detections.annotations), outcomes)


def first_pixel_of(pair: Pair) -> float:
    """Coordinate of the edge of the first pixel in the truth's format."""
    known = FORMATS.get(pair.truth.format or "")
    return float((known.first_pixel if known else None) or 0)


def choose_media(
    path: Path | None,
    frames: ScoredFrames,
    rows: IntArray,
    pair: Pair,
    specification: BenchmarkSpec,
    first_frame: int | None,
) -> Chosen:
    """Find the media of frames.

    Args:
        path: A video or a folder; None for blank canvases.
        frames: The scored frames.
        rows: Ascending rows of the frames to draw.
        pair: Both sides, which may contain the sizes and names of images.
        specification: The specification, which may contain sizes and first frames.
        first_frame: Number of the first frame of each video; None for the specification's or the
            format's.

    Raises:
        InputError: With every sequence that has no media, and every frame that its media lack.
    """
    groups = frames.groups(rows)
    keys = [key for key, _ in groups]
    if path is None:
        chosen = _blanks(keys, frames, pair, specification)
    else:
        chosen = Chosen(media_of_pair(path, keys, pair, specification, first_frame))
    faults = [
        fault for key, mine in groups for fault in chosen.of[key].faults(key, frames.numbers(mine))
    ]
    if faults:
        raise InputError(faults)
    return chosen


def media_of_pair(
    path: Path,
    keys: Sequence[SequenceKey],
    pair: Pair,
    specification: BenchmarkSpec,
    first_frame: int | None = None,
) -> dict[SequenceKey, SequenceMedia]:
    """The media of sequences read from files; arguments as for `choose_media`.

    Raises:
        InputError: With every sequence that has no media.
    """
    first = {key: _first_frame(key, pair, specification, first_frame) for key in keys}
    return find_media(path, keys, first, _image_names(pair, set(keys)))


def draw_frames(
    frames: ScoredFrames,
    rows: IntArray,
    media: Mapping[SequenceKey, SequenceMedia],
    writer: PictureWriter,
    *,
    drawing: Drawing,
    tail_frames: int,
    progress: Progress | None,
) -> None:
    """Draw frames and write them, one at a time.

    Args:
        frames: The scored frames.
        rows: Ascending rows of the frames to draw.
        media: Media of their sequences.
        writer: Receives the pictures.
        drawing: What to draw of a frame, and how.
        tail_frames: Number of earlier frames over which tracks are drawn.
        progress: Called with (frames done, frames in all).

    Raises:
        InputError: If media cannot be read or lack a frame.
        OSError: If a picture cannot be written.
    """
    done = 0
    for key, mine in frames.groups(rows):
        images = media[key].images(key, frames.numbers(mine))
        for row, image in zip(mine.tolist(), images, strict=True):
            view = frames.view(row, tail_frames)
            writer.write(key, view.number, draw_frame(image, view, drawing))
            done += 1
            if progress is not None:
                progress(done, len(rows))


def _first_frame(
    key: SequenceKey, pair: Pair, specification: BenchmarkSpec, typed: int | None
) -> int:
    if typed is not None:
        return typed
    for entry in specification.sequences:
        if entry.key == key and (entry.frame_count is not None or entry.first_frame):
            return entry.first_frame
    known = FORMATS.get(pair.truth.format or "")
    return (known.first_frame if known else None) or 0


def _image_names(pair: Pair, keys: set[SequenceKey]) -> dict[SequenceKey, dict[int, str]]:
    """Names of the images of sequences by frame, as far as the truth contains them."""
    numbering = pair.truth.numbering
    names: dict[SequenceKey, dict[int, str]] = {key: {} for key in keys}
    if numbering is not None and len(numbering.files) == len(numbering.frames):
        for (key, number), file in zip(numbering.frames.values(), numbering.files, strict=True):
            if key in names and file:
                names[key][number] = file
    return names


def _blanks(
    keys: list[SequenceKey], frames: ScoredFrames, pair: Pair, specification: BenchmarkSpec
) -> Chosen:
    """Canvases of the size in the specification or the files, or large enough for the objects."""
    said = {
        entry.key: (entry.image_width, entry.image_height)
        for entry in specification.sequences
        if entry.image_width is not None and entry.image_height is not None
    }
    masks = {key: frames.mask_extent(key) for key in keys}
    of_masks = {key: tuple(size.tolist()) for key, size in masks.items() if size.all()}
    known = {**of_masks, **pair.detections.image_sizes, **pair.truth.image_sizes, **said}
    canvases: dict[SequenceKey, SequenceMedia] = {}
    guessed, faults = [], []
    for key in keys:
        if key in known:
            width, height = known[key]
            canvases[key] = Blank(int(width or 1), int(height or 1))
            continue
        extent = np.maximum(frames.extent(key) - first_pixel_of(pair), 1.0)
        if (extent > LARGEST_GUESS_PX).any():
            found = f"objects at {extent[0]:.0f}, {extent[1]:.0f} in {sequence_name(key)}"
            expected = "--media, or the size of its images by --image-size"
            faults.append(Fault(found, expected))
            continue
        room = np.maximum(np.ceil(extent * 1.05), LEAST_GUESS_PX)
        width, height = room.astype(np.int64).tolist()
        canvases[key] = Blank(width, height)
        guessed.append(key)
    if faults:
        raise InputError(faults)
    return Chosen(canvases, tuple(guessed))

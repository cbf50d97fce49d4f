"""Sets of tracks as a sliding window sees them, for all windows of all sequences at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.arrays import IntArray, expand_runs
from vidscore_evaluators.criteria.scene import Items, Scene
from vidscore_evaluators.criteria.similarity import Similarity
from vidscore_evaluators.criteria.track_distances import (
    Meetings,
    Members,
    TrackDistances,
    both_calendars,
    summed,
)
from vidscore_evaluators.criteria.tracks import Tracks, TrackSet

SIGHTINGS_A_CHUNK = 1 << 19
"""Objects, each as often as windows see it, that are worked on at a time; roughly."""


class WindowSets(NamedTuple):
    """K pairs of sets of tracks, each as one window sees one chain.

    Attributes:
        frames: (K,) last frame of each window, a row of the scene's frames.
        chains: (K,) chain of each.
        found: Distances of their tracks.
    """

    frames: IntArray
    chains: IntArray
    found: TrackDistances


@dataclass(frozen=True, eq=False)
class _Span:
    """Windows that end in the frames from `begin` to before `end`.

    Attributes:
        begin: First last frame of a window.
        end: Frame after the last one.
        length: Frames that a window holds.
        sequence_ends: (F,) last frame of the sequence of each frame.
    """

    begin: int
    end: int
    length: int
    sequence_ends: IntArray

    def sightings(self, frames: IntArray) -> tuple[IntArray, IntArray]:
        """What these windows see of things that lie in some frames.

        Args:
            frames: (N,) frame of each thing, ascending.

        Returns:
            Rows of things, and the windows that see them, each pair once.
        """
        low, high = np.searchsorted(frames, [self.begin - self.length + 1, self.end]).tolist()
        seen = frames[low:high]
        first = np.maximum(seen, self.begin)
        last = np.minimum(np.minimum(seen + self.length, self.end) - 1, self.sequence_ends[seen])
        counts = np.maximum(last - first + 1, 0)
        return np.repeat(np.arange(low, high), counts), expand_runs(first, counts)


@dataclass(frozen=True, eq=False)
class _Sightings:
    """Tracks of one side that windows see, in ascending order of window and track.

    Attributes:
        keys: Window times the number of tracks, plus track.
        tracks: The side's tracks.
        lengths: Frames in which each is there, within its window.
    """

    keys: IntArray
    tracks: TrackSet
    lengths: IntArray

    @classmethod
    def of(cls, span: _Span, scene: Scene, tracks: TrackSet, items: Items) -> _Sightings:
        rows, windows = span.sightings(scene.group_frames[items.groups])
        keys = windows * len(tracks) + tracks.of_objects[rows]
        found, lengths = np.unique(keys, return_counts=True)
        return cls(found, tracks, lengths)

    def sets(self, chain_count: int) -> IntArray:
        """Window times the number of chains, plus chain."""
        count = max(1, len(self.tracks))
        return self.keys // count * chain_count + self.tracks.chains[self.keys % count]

    def places(self, windows: IntArray, tracks: IntArray) -> IntArray:
        """Where tracks that are seen stand."""
        return np.searchsorted(self.keys, windows * len(self.tracks) + tracks)


def window_sets(
    tracks: Tracks, similarity: Similarity, cutoff: float, length: int
) -> Iterator[WindowSets]:
    """Go through all windows, a chunk at a time.

    Args:
        tracks: Tracks of a scene.
        similarity: Whose distance is the base.
        cutoff: Cut-off c in (0, 1].
        length: Frames that a window holds; it is shorter where a sequence begins.

    Yields:
        The sets of some windows, of which one side at least has a track; each set once. What
        comes depends on the scene alone; there is a chunk at least, be it empty.
    """
    meetings = Meetings.of(tracks, both_calendars(tracks), similarity, cutoff)
    for span in _spans(tracks.scene, length):
        yield _sets_of(span, tracks, meetings, cutoff)


def _spans(scene: Scene, length: int) -> Iterator[_Span]:
    sequence_ends = np.searchsorted(scene.frame_sequences, scene.frame_sequences, side="right") - 1
    counts = scene.truth.counts + scene.detections.counts
    in_frames = np.bincount(scene.group_frames, counts, minlength=scene.frame_count)
    sightings = np.cumsum((in_frames + 1) * length)
    begin = 0
    while begin < max(1, scene.frame_count):
        before = sightings[begin - 1] if begin else 0.0
        end = int(np.searchsorted(sightings, before + SIGHTINGS_A_CHUNK, side="right"))
        end = max(begin + 1, end)
        yield _Span(begin, min(end, scene.frame_count), length, sequence_ends)
        begin = end


def _sets_of(span: _Span, tracks: Tracks, meetings: Meetings, cutoff: float) -> WindowSets:
    scene, pairs = tracks.scene, meetings.pairs
    truth = _Sightings.of(span, scene, tracks.truth, scene.truth)
    detections = _Sightings.of(span, scene, tracks.detections, scene.detections)
    chain_count = max(1, tracks.chain_count)
    of_sides = [side.sets(chain_count) for side in (truth, detections)]
    sets = np.unique(np.concatenate(of_sides))
    members, other_members = (
        Members.of(np.searchsorted(sets, of_side), side.lengths, len(sets))
        for of_side, side in zip(of_sides, (truth, detections), strict=True)
    )
    candidates = meetings.candidates
    rows, windows = span.sightings(
        scene.group_frames[scene.detections.groups[candidates.detections]]
    )
    pair_count = max(1, len(pairs))
    keys, of_rows, counts = np.unique(
        windows * pair_count + pairs.of_candidates[rows], return_inverse=True, return_counts=True
    )
    met, at = keys % pair_count, keys // pair_count
    found = TrackDistances.of(
        members,
        other_members,
        (truth.places(at, pairs.truth[met]), detections.places(at, pairs.detections[met])),
        (summed(meetings.costs[rows], of_rows, len(keys)), counts),
        meetings.calendar.between(met, at - span.length + 1, at),
        cutoff,
    )
    return WindowSets(sets // chain_count, sets % chain_count, found)

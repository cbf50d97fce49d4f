"""Distances of tracks: the time-averaged base distance of eq. 4, of all pairs of tracks.

Source: the trustworthiness paper, section 4.3, eq. 4, and its appendix 3.2. It covers the frames in
which at least one of two tracks exists. A frame with both tracks counts their base distance, at
most the cut-off c; a frame with one track counts c; the distance is the mean. So two tracks that
are nowhere nearer than c have the distance c, as most pairs do; only objects that are nearer are
processed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray, batch_by_shape, expand_runs
from vidscore_evaluators.scene import Items, Scene
from vidscore_evaluators.similarity import Candidates, Similarity
from vidscore_evaluators.tracking._tracks import TrackPairs, Tracks, TrackSet, similar_pairs

CELLS_PER_CHUNK = 1 << 20
"""Number of track distances that are laid out together."""


class FrameIndex:
    """The frames of each track of one side, or of each pair of tracks.

    Attributes:
        frames: Frames sorted by track, ascending within a track.
        starts: (T + 1,) offsets: track t has ``frames[starts[t]:starts[t + 1]]``.
    """

    def __init__(self, tracks: IntArray, frames: IntArray, track_count: int, width: int) -> None:
        """Sort (N,) frames, all below `width`, by (N,) tracks."""
        self._width = width
        self._keys = np.sort(tracks * width + frames)
        self.frames = self._keys % width
        self.starts = np.searchsorted(self._keys, np.arange(track_count + 1) * width)

    @classmethod
    def of_side(cls, tracks: Tracks, side: TrackSet, items: Items) -> FrameIndex:
        """The frames of each track of one side."""
        scene = tracks.scene
        frames = scene.group_frames[items.groups]
        return cls(side.of_objects, frames, len(side), max(1, scene.frame_count))

    @classmethod
    def of_pairs(cls, pairs: TrackPairs, truth: FrameIndex, detections: FrameIndex) -> FrameIndex:
        """The frames that have both tracks of each pair."""
        shorter = truth.lengths[pairs.truth] <= detections.lengths[pairs.detections]
        found = [
            one.together(np.flatnonzero(rows), of_one, other, of_other)
            for rows, one, of_one, other, of_other in (
                (shorter, truth, pairs.truth, detections, pairs.detections),
                (~shorter, detections, pairs.detections, truth, pairs.truth),
            )
        ]
        rows, frames = (np.concatenate(column) for column in zip(*found, strict=True))
        return cls(rows, frames, len(pairs), truth._width)

    @property
    def lengths(self) -> IntArray:
        """(T,) frames of each track."""
        return np.diff(self.starts)

    def together(
        self, rows: IntArray, mine: IntArray, other: FrameIndex, theirs: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Rows of pairs, and the frames that have both tracks, each combination once.

        Args:
            rows: Pairs to look at.
            mine: Track of this index in each pair.
            other: The index of the other side.
            theirs: Its track in each pair.
        """
        counts = self.lengths[mine[rows]]
        of_frames = np.repeat(rows, counts)
        frames = self.frames[expand_runs(self.starts[mine[rows]], counts)]
        both = other.holds(theirs[of_frames], frames)
        return of_frames[both], frames[both]

    def holds(self, tracks: IntArray, frames: IntArray) -> IntArray:
        """Indices of the (track, frame) combinations that exist."""
        keys = tracks * self._width + frames
        places = np.searchsorted(self._keys, keys)
        found = np.flatnonzero(places < len(self._keys))
        held: IntArray = found[self._keys[places[found]] == keys[found]]
        return held

    def between(self, tracks: IntArray, first: IntArray, last: IntArray) -> IntArray:
        """Number of frames of each of some tracks from a first to a last frame."""
        begin, end = tracks * self._width + np.maximum(first, 0), tracks * self._width + last
        before = np.searchsorted(self._keys, begin, side="left")
        counts: IntArray = np.searchsorted(self._keys, end, side="right") - before
        return counts


def summed(values: FloatArray, groups: IntArray, group_count: int) -> FloatArray:
    """(G,) sums of (N,) values by group, each added up in the order of rows."""
    return np.bincount(groups, values, minlength=group_count).astype(np.float64)


def frame_indices(tracks: Tracks) -> tuple[FrameIndex, FrameIndex]:
    """The frames of each track of the truth, and of the detections."""
    return (
        FrameIndex.of_side(tracks, tracks.truth, tracks.scene.truth),
        FrameIndex.of_side(tracks, tracks.detections, tracks.scene.detections),
    )


class Cooccurrence(Struct, frozen=True, eq=False):
    """Tracks that are nearer to each other than the cut-off in some frame.

    Attributes:
        candidates: (P,) pairs of objects that are nearer than the cut-off.
        costs: (P,) distance of each, below the cut-off.
        pairs: Their pairs of tracks.
        both_frames: The frames that have both tracks of each pair.
    """

    candidates: Candidates
    costs: FloatArray
    pairs: TrackPairs
    both_frames: FrameIndex

    @classmethod
    def of(
        cls,
        tracks: Tracks,
        indices: tuple[FrameIndex, FrameIndex],
        similarity: Similarity,
        cutoff: float,
    ) -> Cooccurrence:
        """Find the pairs of objects and of tracks.

        Args:
            tracks: Tracks of a scene.
            indices: The frames of each track of the truth and of the detections.
            similarity: The similarity whose distance is the base.
            cutoff: Cut-off c in (0, 1].
        """
        found = similar_pairs(tracks.scene, similarity, -np.inf)
        costs = similarity.distances(found.similarities)
        near = costs < cutoff
        candidates = found.take(near)
        pairs = TrackPairs.of(tracks, candidates)
        return cls(candidates, costs[near], pairs, FrameIndex.of_pairs(pairs, *indices))


class Members(Struct, frozen=True, eq=False):
    """Tracks of one side in K sets, sorted by set: an occurrence of a track in a set is a member.

    Attributes:
        sets: (M,) set of each member, ascending.
        lengths: (M,) frames of each member.
        starts: (K + 1,) offsets: set k has the members ``starts[k]:starts[k + 1]``.
    """

    sets: IntArray
    lengths: IntArray
    starts: IntArray

    @classmethod
    def of(cls, sets: IntArray, lengths: IntArray, set_count: int) -> Members:
        """Members of K sets.

        Args:
            sets: (M,) set of each, ascending.
            lengths: (M,) frames of each.
            set_count: Number of sets K.
        """
        starts = np.searchsorted(sets, np.arange(set_count + 1)).astype(np.int64)
        return cls(sets, lengths, starts)

    @property
    def counts(self) -> IntArray:
        """(K,) members of each set."""
        return np.diff(self.starts)


class TrackDistances(Struct, frozen=True, eq=False):
    """Distances between the tracks of the truth and of the detections in K pairs of sets.

    Attributes:
        truth: Tracks of the truth.
        detections: Tracks of the detections.
        first: (P,) member of the truth in each pair that is nearer than the cut-off somewhere.
        second: (P,) member of the detections in each.
        distances: (P,) distance of each.
        cutoff: Distance of all other pairs.
    """

    truth: Members
    detections: Members
    first: IntArray
    second: IntArray
    distances: FloatArray
    cutoff: float

    @classmethod
    def of(
        cls,
        truth: Members,
        detections: Members,
        pairs: tuple[IntArray, IntArray],
        near: tuple[FloatArray, IntArray],
        together: IntArray,
        cutoff: float,
    ) -> TrackDistances:
        """Average over frames.

        Args:
            truth: Tracks of the truth.
            detections: Tracks of the detections.
            pairs: (P,) members of either side that are nearer than the cut-off somewhere.
            near: (P,) sum of distances, and number, of the frames in which each pair is nearer
                than the cut-off.
            together: (P,) frames that have both.
            cutoff: Cut-off c.
        """
        first, second = pairs
        costs, frames = near
        union = truth.lengths[first] + detections.lengths[second] - together
        means = np.minimum((costs + cutoff * (union - frames)) / union, cutoff)
        return cls(truth, detections, first, second, means, cutoff)

    @classmethod
    def of_chains(cls, tracks: Tracks, similarity: Similarity, cutoff: float) -> TrackDistances:
        """Distances of whole tracks; each chain is a pair of sets.

        Args:
            tracks: Tracks of a scene.
            similarity: The similarity whose distance is the base.
            cutoff: Cut-off c in (0, 1].
        """
        cooccurrence = Cooccurrence.of(tracks, frame_indices(tracks), similarity, cutoff)
        pairs = cooccurrence.pairs
        return cls.of(
            Members.of(tracks.truth.chains, tracks.truth.lengths, tracks.chain_count),
            Members.of(tracks.detections.chains, tracks.detections.lengths, tracks.chain_count),
            (pairs.truth, pairs.detections),
            (summed(cooccurrence.costs, pairs.of_candidates, len(pairs)), pairs.counts),
            cooccurrence.both_frames.lengths,
            cutoff,
        )

    def matrices(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """Distances of all pairs of sets, batched by equal shape.

        Yields:
            (S,) sets and their (S, m, n) distances; each set once, in batches.
        """
        heights, widths = self.truth.counts, self.detections.counts
        of_pairs = self.truth.sets[self.first]
        pair_order = np.argsort(of_pairs, kind="stable")
        starts = np.searchsorted(of_pairs[pair_order], np.arange(len(heights) + 1))
        for sets, height, width in batch_by_shape(heights, widths, CELLS_PER_CHUNK):
            counts = starts[sets + 1] - starts[sets]
            rows = pair_order[expand_runs(starts[sets], counts)]
            yield sets, self._filled(sets, (height, width), rows, counts)

    def _filled(
        self, sets: IntArray, shape: tuple[int, int], rows: IntArray, counts: IntArray
    ) -> FloatArray:
        matrices = np.full((len(sets), *shape), self.cutoff)
        places = np.repeat(np.arange(len(sets)), counts)
        heights = self.first[rows] - self.truth.starts[sets][places]
        widths = self.second[rows] - self.detections.starts[sets][places]
        matrices[places, heights, widths] = self.distances[rows]
        return matrices


WINDOW_OBJECTS_PER_CHUNK = 1 << 19
"""Approximate number of objects, once per window that contains them, in one chunk."""


class WindowSets(NamedTuple):
    """K pairs of sets of tracks; each is one chain in one window.

    Attributes:
        frames: (K,) last frame of each window, a row of the scene's frames.
        chains: (K,) chain of each.
        found: Distances of their tracks.
    """

    frames: IntArray
    chains: IntArray
    found: TrackDistances


class _Span(Struct, frozen=True, eq=False):
    """Windows whose last frame is in `begin` to `end - 1`.

    Attributes:
        begin: The first of the windows' last frames.
        end: One more than the last of them.
        length: Number of frames of a window.
        sequence_ends: (F,) last frame of the sequence of each frame.
    """

    begin: int
    end: int
    length: int
    sequence_ends: IntArray

    def seen_by(self, frames: IntArray) -> tuple[IntArray, IntArray]:
        """Find the windows that contain items, given the items' frames.

        Args:
            frames: (N,) frame of each item, ascending.

        Returns:
            Rows of items, and the windows that contain them, each combination once.
        """
        low, high = np.searchsorted(frames, [self.begin - self.length + 1, self.end]).tolist()
        seen = frames[low:high]
        first = np.maximum(seen, self.begin)
        last = np.minimum(np.minimum(seen + self.length, self.end) - 1, self.sequence_ends[seen])
        counts = np.maximum(last - first + 1, 0)
        return np.repeat(np.arange(low, high), counts), expand_runs(first, counts)


class _TrackWindows(Struct, frozen=True, eq=False):
    """Tracks of one side in windows, sorted by window and track.

    Attributes:
        keys: Window times the number of tracks, plus track.
        tracks: The side's tracks.
        lengths: Number of frames of each track within its window.
    """

    keys: IntArray
    tracks: TrackSet
    lengths: IntArray

    @classmethod
    def of(cls, span: _Span, scene: Scene, tracks: TrackSet, items: Items) -> _TrackWindows:
        rows, windows = span.seen_by(scene.group_frames[items.groups])
        keys = windows * len(tracks) + tracks.of_objects[rows]
        found, lengths = np.unique(keys, return_counts=True)
        return cls(found, tracks, lengths)

    def sets(self, chain_count: int) -> IntArray:
        """Window times the number of chains, plus chain."""
        count = max(1, len(self.tracks))
        return self.keys // count * chain_count + self.tracks.chains[self.keys % count]

    def places(self, windows: IntArray, tracks: IntArray) -> IntArray:
        """Positions of tracks in windows."""
        return np.searchsorted(self.keys, windows * len(self.tracks) + tracks)


def window_sets(
    tracks: Tracks, similarity: Similarity, cutoff: float, length: int
) -> Iterator[WindowSets]:
    """Go through all windows, a chunk at a time.

    Args:
        tracks: Tracks of a scene.
        similarity: The similarity whose distance is the base.
        cutoff: Cut-off c in (0, 1].
        length: Number of frames of a window; fewer at the beginning of a sequence.

    Yields:
        The sets of some windows in which at least one side has a track; each set once. Chunks
        depend on the scene only; there is at least one, possibly empty.
    """
    cooccurrence = Cooccurrence.of(tracks, frame_indices(tracks), similarity, cutoff)
    for span in _spans(tracks.scene, length):
        yield _sets_of(span, tracks, cooccurrence, cutoff)


def _spans(scene: Scene, length: int) -> Iterator[_Span]:
    sequence_ends = np.searchsorted(scene.frame_sequences, scene.frame_sequences, side="right") - 1
    counts = scene.truth.counts + scene.detections.counts
    in_frames = np.bincount(scene.group_frames, counts, minlength=scene.frame_count)
    seen_by = np.cumsum((in_frames + 1) * length)
    begin = 0
    while begin < max(1, scene.frame_count):
        before = seen_by[begin - 1] if begin else 0.0
        end = int(np.searchsorted(seen_by, before + WINDOW_OBJECTS_PER_CHUNK, side="right"))
        end = max(begin + 1, end)
        yield _Span(begin, min(end, scene.frame_count), length, sequence_ends)
        begin = end


def _sets_of(span: _Span, tracks: Tracks, cooccurrence: Cooccurrence, cutoff: float) -> WindowSets:
    scene, pairs = tracks.scene, cooccurrence.pairs
    truth = _TrackWindows.of(span, scene, tracks.truth, scene.truth)
    detections = _TrackWindows.of(span, scene, tracks.detections, scene.detections)
    chain_count = max(1, tracks.chain_count)
    of_sides = [side.sets(chain_count) for side in (truth, detections)]
    sets = np.unique(np.concatenate(of_sides))
    members, other_members = (
        Members.of(np.searchsorted(sets, of_side), side.lengths, len(sets))
        for of_side, side in zip(of_sides, (truth, detections), strict=True)
    )
    candidates = cooccurrence.candidates
    rows, windows = span.seen_by(scene.group_frames[scene.detections.groups[candidates.detections]])
    pair_count = max(1, len(pairs))
    keys, of_rows, counts = np.unique(
        windows * pair_count + pairs.of_candidates[rows], return_inverse=True, return_counts=True
    )
    met, at = keys % pair_count, keys // pair_count
    found = TrackDistances.of(
        members,
        other_members,
        (truth.places(at, pairs.truth[met]), detections.places(at, pairs.detections[met])),
        (summed(cooccurrence.costs[rows], of_rows, len(keys)), counts),
        cooccurrence.both_frames.between(met, at - span.length + 1, at),
        cutoff,
    )
    return WindowSets(sets // chain_count, sets % chain_count, found)

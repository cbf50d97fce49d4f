"""Correspondences: CLEAR's frame-by-frame matching, in which matched pairs stay matched.

Sources: K. Bernardin and R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The
CLEAR MOT Metrics", section 2.1.2; and the two implementations whose scores the field reports,
which differ in what they remember and in how they match the rest:

- ``trackeval`` remembers the matches of the frame before, and matches the rest by the greatest sum
  of similarities. Frames that have objects of only one side are skipped.
- ``motmetrics`` remembers the last match of each object, however long ago, and matches the rest
  with as many pairs as possible and, among those, the least sum of distances.

Most pairs need no memory: if neither object has another candidate, they match whatever came before.
The rest form *conflict components* of objects that compete. A component depends on those of earlier
frames that it remembers. Components are matched in topological order: all that depend on nothing
unmatched together, of all sequences at once.

Reading of this project:

1. Under ``motmetrics`` two objects may remember the same detection track. The one with the least
   track id keeps it. In motmetrics the first of its input keeps it, which is the same for sorted
   input, and input is sorted wherever motmetrics reads files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np

from vidscore_evaluators.arrays import BoolArray, IntArray, run_starts
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.matching import match_maximum_weight, match_minimum_cost
from vidscore_evaluators.pairs import connected_components
from vidscore_evaluators.similarity import Candidates, Similarity
from vidscore_evaluators.tracking._tracks import Tracks, previous_occurrence

SwitchRule = Literal["trackeval", "motmetrics"]

_NONE = -1


def lasting_matches(
    tracks: Tracks, candidates: Candidates, similarity: Similarity, rule: SwitchRule
) -> BoolArray:
    """Match frame by frame, and keep earlier matches.

    Args:
        tracks: Tracks of a scene.
        candidates: P pairs of the scene that count.
        similarity: The similarity.
        rule: The implementation whose memory and matching is used.

    Returns:
        (P,) whether each pair is matched.
    """
    sizes = (len(tracks.scene.detections), len(tracks.scene.truth))
    components = connected_components(candidates.pairs, *sizes)
    matched: BoolArray = components.pair_counts[components.of_pairs] == 1
    rows = np.flatnonzero(~matched)
    if len(rows):
        memory_of = {"trackeval": _FrameBefore, "motmetrics": _LastMatch}[rule]
        memory = memory_of(tracks, candidates, similarity, matched, rows)
        _match_components(memory, components.of_pairs[rows])
    return matched


class _Memory(ABC):
    """Memory of earlier frames of conflict components, and their matching.

    Attributes:
        rows: (K,) the pairs in conflict components.
        depends_on: (K,) position in `rows` of a pair that must be matched before each, or -1.
    """

    def __init__(
        self,
        tracks: Tracks,
        candidates: Candidates,
        similarity: Similarity,
        matched: BoolArray,
        rows: IntArray,
    ) -> None:
        self.rows = rows
        self.scene = tracks.scene
        self.candidates = candidates
        self.similarity = similarity
        self.matched = matched
        self.groups = tracks.scene.truth.groups[candidates.targets]
        self.truth_tracks = tracks.truth.of_objects[candidates.targets]
        self.detection_tracks = tracks.detections.of_objects[candidates.detections]
        self.steps = tracks.shared_steps()[self.groups]
        self._taken_targets = np.zeros(len(tracks.scene.truth), dtype=np.bool_)
        self._taken_detections = np.zeros(len(tracks.scene.detections), dtype=np.bool_)
        self.depends_on = self._dependencies()

    @abstractmethod
    def _dependencies(self) -> IntArray:
        """Compute `depends_on`, before anything is matched."""

    @abstractmethod
    def kept(self, rows: IntArray) -> IntArray:
        """The pairs among some that stay matched; one-to-one."""

    @abstractmethod
    def rest(self, rows: IntArray) -> IntArray:
        """The pairs among some free ones that are matched now."""

    def match(self, rows: IntArray) -> None:
        """Match the pairs of whole components whose dependencies are matched."""
        kept = self.kept(rows)
        self.matched[kept] = True
        targets, detections = self.candidates.targets, self.candidates.detections
        self._taken_targets[targets[kept]] = True
        self._taken_detections[detections[kept]] = True
        taken = self._taken_targets[targets[rows]] | self._taken_detections[detections[rows]]
        free = rows[~taken]
        if len(free):
            self.matched[self.rest(free)] = True


class _FrameBefore(_Memory):
    """trackeval's memory: the matches of the frame before."""

    def _dependencies(self) -> IntArray:
        self._before = self._same_pairs_before()
        places = np.full(len(self.candidates), _NONE, dtype=np.int64)
        places[self.rows] = np.arange(len(self.rows))
        before = self._before[self.rows]
        return np.where(before == _NONE, _NONE, places[before])

    def _same_pairs_before(self) -> IntArray:
        """(P,) the pair of the same two tracks in the frame before, or -1."""
        width = int(self.detection_tracks.max()) + 1
        _, of_pairs, _ = factorize(self.truth_tracks * width + self.detection_tracks)
        before = previous_occurrence(of_pairs)
        follows = (before != _NONE) & (self.steps - self.steps[before] == 1)
        return np.where(follows, before, _NONE)

    def kept(self, rows: IntArray) -> IntArray:
        before = self._before[rows]
        kept: IntArray = rows[(before != _NONE) & self.matched[before]]
        return kept

    def rest(self, rows: IntArray) -> IntArray:
        pairs, scene = self.candidates.take(rows), self.scene
        weights = pairs.similarities - self.similarity.minimum
        sizes = (len(scene.detections), len(scene.truth))
        return rows[match_maximum_weight(pairs.pairs, weights, *sizes)]


class _LastMatch(_Memory):
    """motmetrics' memory: the last match of each truth object."""

    def _dependencies(self) -> IntArray:
        count = int(self.truth_tracks.max()) + 1
        self._partners = np.full(count, _NONE, dtype=np.int64)
        self._groups_of_partners = np.full(count, _NONE, dtype=np.int64)
        lone = np.flatnonzero(self.matched)
        self._lone = lone[np.lexsort((self.groups[lone], self.truth_tracks[lone]))]
        return self._components_before()

    def _components_before(self) -> IntArray:
        """(K,) a pair of the last component that the same truth object was in, or -1."""
        tracks, groups = self.truth_tracks[self.rows], self.groups[self.rows]
        order = np.lexsort((groups, tracks))
        first = run_starts(tracks[order], groups[order])
        before = np.full(len(first), _NONE, dtype=np.int64)
        follows = np.diff(tracks[order][first]) == 0
        before[1:][follows] = order[first[:-1][follows]]
        depends_on = np.empty(len(order), dtype=np.int64)
        depends_on[order] = np.repeat(before, np.diff(first, append=len(order)))
        return depends_on

    def kept(self, rows: IntArray) -> IntArray:
        same = rows[self._remembered(rows) == self.detection_tracks[rows]]
        # Of several objects that remember the same detection, take the least track id.
        order = same[np.lexsort((self.truth_tracks[same], self.candidates.detections[same]))]
        first: IntArray = order[run_starts(self.candidates.detections[order])]
        return first

    def _remembered(self, rows: IntArray) -> IntArray:
        """Detection track that the truth object of each pair was last matched with, or -1."""
        tracks, groups = self.truth_tracks[rows], self.groups[rows]
        if len(self._lone) == 0:
            return self._partners[tracks]
        places = self._lone_matches_before(tracks, groups)
        lone = self._lone[places]
        found = (places >= 0) & (self.truth_tracks[lone] == tracks)
        lone_groups = np.where(found, self.groups[lone], _NONE)
        later = self._groups_of_partners[tracks] > lone_groups
        lone_partners = np.where(found, self.detection_tracks[lone], _NONE)
        return np.where(later, self._partners[tracks], lone_partners)

    def _lone_matches_before(self, tracks: IntArray, groups: IntArray) -> IntArray:
        """Position of the last match without conflict of a track before a group; -1 if none."""
        width = int(self.groups.max()) + 1
        keys = self.truth_tracks[self._lone] * width + self.groups[self._lone]
        return np.searchsorted(keys, tracks * width + groups) - 1

    def rest(self, rows: IntArray) -> IntArray:
        pairs, scene = self.candidates.take(rows), self.scene
        # Objects are in the scene's canonical order.
        matched = match_minimum_cost(
            pairs.pairs,
            self.similarity.distances(pairs.similarities),
            self.groups[rows],
            len(scene.detections),
            len(scene.truth),
        )
        return rows[matched]

    def match(self, rows: IntArray) -> None:
        super().match(rows)
        new = rows[self.matched[rows]]
        self._partners[self.truth_tracks[new]] = self.detection_tracks[new]
        self._groups_of_partners[self.truth_tracks[new]] = self.groups[new]


def _match_components(memory: _Memory, components: IntArray) -> None:
    """Match all conflict components in topological order.

    Args:
        memory: The pairs in components, and their memory.
        components: (K,) conflict component of each.
    """
    open_ = np.arange(len(components), dtype=np.int64)
    undecided = np.ones(len(components) + 1, dtype=np.bool_)
    undecided[_NONE] = False
    waiting = np.zeros(int(components.max()) + 1, dtype=np.bool_)
    while len(open_):
        waiting[components[open_]] = False
        waiting[components[open_[undecided[memory.depends_on[open_]]]]] = True
        waits = waiting[components[open_]]
        ready = open_[~waits]
        memory.match(memory.rows[ready])
        undecided[ready] = False
        open_ = open_[waits]

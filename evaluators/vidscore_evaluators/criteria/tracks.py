"""Tracks: the objects of a scene, strung together by identity.

A *chain* is what is tracked on its own: one class in one sequence, or one sequence where classes
are ignored; no identity reaches beyond it. Truth and detections have tracks of their own, numbered
without gaps over all chains, so that whole arrays hold the tracks of all sequences at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import LARGEST_KEY, IntArray, run_starts
from vidscore_evaluators.criteria.candidates import Candidates
from vidscore_evaluators.criteria.scene import Items, Scene
from vidscore_evaluators.kernels import factorize


@dataclass(frozen=True, eq=False)
class TrackSet:
    """The T tracks that the N objects of one side belong to.

    Attributes:
        of_objects: (N,) track of each object.
        chains: (T,) chain of each track, ascending.
        lengths: (T,) objects of each track.
    """

    of_objects: IntArray
    chains: IntArray
    lengths: IntArray

    def __len__(self) -> int:
        """Number of tracks T."""
        return len(self.chains)

    def places(self) -> IntArray:
        """(N,) place of each object in its track, in the order of frames, from 0."""
        order = np.argsort(self.of_objects, kind="stable")
        places = np.empty(len(order), dtype=np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        places[order] = np.arange(len(order)) - starts[self.of_objects[order]]
        return places


@dataclass(frozen=True, eq=False)
class Tracks:
    """A scene's objects by track.

    Attributes:
        scene: The scene, of G groups.
        chain_sequences: (C,) sequence of each chain, an index into the scene's, ascending.
        chain_classes: (C,) class of each chain, an index into the scene's.
        group_chains: (G,) chain of each group.
        truth: Tracks of the truth, ascending in track id within a chain.
        detections: Tracks of the detections, likewise.
    """

    scene: Scene
    chain_sequences: IntArray
    chain_classes: IntArray
    group_chains: IntArray
    truth: TrackSet
    detections: TrackSet

    @classmethod
    def of(cls, scene: Scene) -> Tracks:
        """String the objects of a scene together; criteria of one scene share the result."""
        return scene.cache.get_or_compute("tracks", lambda: cls._strung(scene))

    @classmethod
    def _strung(cls, scene: Scene) -> Tracks:
        class_count = max(1, len(scene.classes))
        keys = scene.group_sequences * class_count + scene.group_classes
        chains, group_chains, _ = factorize(keys)
        return cls(
            scene=scene,
            chain_sequences=chains // class_count,
            chain_classes=chains % class_count,
            group_chains=group_chains,
            truth=_track_set(scene.truth, group_chains),
            detections=_track_set(scene.detections, group_chains),
        )

    @property
    def chain_count(self) -> int:
        """Number of chains C."""
        return len(self.chain_sequences)

    def shared_steps(self) -> IntArray:
        """(G,) number of each group among those of its chain that hold both sides' objects.

        A group that holds objects of one side alone has the number of the next that holds both.
        """
        shared = (self.scene.truth.counts > 0) & (self.scene.detections.counts > 0)
        order = np.argsort(self.group_chains, kind="stable")
        in_order = self.group_chains[order]
        before: IntArray = np.cumsum(shared[order]) - shared[order]
        first = run_starts(in_order)
        steps = np.empty(len(order), dtype=np.int64)
        steps[order] = before - np.repeat(before[first], np.diff(first, append=len(order)))
        return steps

    def by_chain(self, objects: IntArray, items: Items) -> IntArray:
        """(C,) how many of some objects (rows of `items`) each chain has."""
        chains = self.group_chains[items.groups[objects]]
        return np.bincount(chains, minlength=self.chain_count)

    def totals(self, side: TrackSet) -> IntArray:
        """(C,) objects of a side in each chain."""
        return _sums(side.chains, side.lengths, self.chain_count)


@dataclass(frozen=True, eq=False)
class TrackPairs:
    """P pairs of a track of the truth and one of the detections, each pair once.

    Attributes:
        truth: (P,) tracks of the truth, ascending.
        detections: (P,) tracks of the detections, ascending within one of the truth.
        of_candidates: For each candidate the pair of its tracks.
        counts: (P,) candidates of each pair.
    """

    truth: IntArray
    detections: IntArray
    of_candidates: IntArray
    counts: IntArray

    @classmethod
    def of(cls, tracks: Tracks, candidates: Candidates) -> TrackPairs:
        """Which tracks meet, and how often.

        Args:
            tracks: Tracks of a scene.
            candidates: Pairs of its objects.
        """
        # Tracks of one chain alone meet, so that they are told apart by their places in it.
        in_chains = np.bincount(tracks.detections.chains, minlength=tracks.chain_count)
        first = np.cumsum(in_chains) - in_chains
        width = int(in_chains.max(initial=1))
        truth = tracks.truth.of_objects[candidates.targets]
        places = tracks.detections.of_objects[candidates.detections]
        places -= first[tracks.truth.chains[truth]]
        pairs, of_candidates, counts = factorize(truth * width + places)
        truth = pairs // width
        detections = pairs % width + first[tracks.truth.chains[truth]]
        return cls(truth, detections, of_candidates, counts)

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.truth)


def _track_set(items: Items, group_chains: IntArray) -> TrackSet:
    chains = group_chains[items.groups]
    ids = items.track_ids
    least, greatest = (int(ids.min()), int(ids.max())) if len(items) else (0, 0)
    if (greatest - least + 1) * (len(items) + 1) > LARGEST_KEY:
        numbers, ids = np.unique(ids, return_inverse=True)
        least, greatest = 0, len(numbers) - 1
    ids, width = ids - least, greatest - least + 1
    keys, of_objects, lengths = factorize(chains * width + ids)
    return TrackSet(of_objects, keys // width, lengths)


def _sums(groups: IntArray, values: IntArray, group_count: int) -> IntArray:
    """Sum integers by group."""
    sums = np.zeros(group_count, dtype=np.int64)
    np.add.at(sums, groups, values)
    return sums

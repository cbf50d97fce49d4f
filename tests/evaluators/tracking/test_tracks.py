"""Objects linked by identity, and tables summed for all rows of a report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._report_rows import EVERYTHING, Scope, totals_by_part, totals_by_scope
from vidscore_evaluators._scene_builder import make_scene
from vidscore_evaluators.alignment import align
from vidscore_evaluators.exact_sums import to_float
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.tally import Table, TableSchema, build_table
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.tracking._tracks import Tracks, TrackSet, previous_occurrence


def tracks() -> Tracks:
    """Track 3 as car and as bus, in frames that hold one side or both."""

    def box(track: int, label: str) -> Thing:
        return Thing((0, 0, 10, 10), label, track_id=track)

    truth = make_annotations(
        {
            ("", "s"): {
                0: [box(3, "car"), box(9, "car")],
                1: [],
                2: [box(3, "car")],
                3: [box(3, "car"), box(3, "bus")],
            },
            ("", "t"): {0: [box(3, "car")]},
        }
    )
    detections = make_annotations(
        {("", "s"): {0: [box(5, "car")], 1: [box(5, "car")], 3: [box(5, "car"), box(6, "bus")]}}
    )
    scene = make_scene(align(truth, detections), RULES["standard"], Similarity())
    return Tracks.of(scene)


def test_a_track_is_one_identity_in_one_sequence_and_class() -> None:
    """Chains: buses of s, cars of s, cars of t; with 1, 2 and 1 tracks."""
    found = tracks()
    assert found.chain_sequences.tolist() == [0, 0, 1]
    assert found.chain_classes.tolist() == [0, 1, 1]
    assert found.truth.chains.tolist() == [0, 1, 1, 2]
    assert found.truth.lengths.tolist() == [1, 3, 1, 1]
    assert found.detections.chains.tolist() == [0, 1]
    assert found.totals(found.truth).tolist() == [1, 4, 1]


def test_tracks_of_several_chains_stay_separate_however_large_their_ids_are() -> None:
    """Chain 4 times 2**62 + 1 identities, plus 0, is 4 more than 2**64: chain 0 has an id 4."""
    ids = np.array([0, 4, 2**62] * 5)
    found = TrackSet.of(np.repeat(np.arange(5), 3), ids)
    assert found.of_objects.tolist() == list(range(15))
    assert found.chains.tolist() == np.repeat(np.arange(5), 3).tolist()


def test_places_count_the_objects_of_a_track_in_the_order_of_frames() -> None:
    """Objects by frame: cars 3 and 9 of frame 0, car 3 of frame 2, bus and car 3 of frame 3, t."""
    found = tracks()
    columns = (found.truth.of_objects.tolist(), found.truth.places().tolist())
    by_track = sorted(zip(*columns, strict=True))
    assert by_track == [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0)]


def test_steps_skip_groups_with_one_side_only() -> None:
    """Cars of s: frame 0 is step 0, frames 1 and 2 hold one side, frame 3 is step 1."""
    found = tracks()
    frames = found.scene.group_frames.tolist()
    steps = found.shared_steps().tolist()
    chains = found.group_chains.tolist()
    of_cars = {
        frame: step for frame, step, chain in zip(frames, steps, chains, strict=True) if chain == 1
    }
    assert of_cars == {0: 0, 1: 1, 2: 1, 3: 1}


def table(texts: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Table:
    """A table whose row k counts 10**k and sums 2**-k."""
    words = sorted({word for row in rows for word in row})
    columns = [
        np.array([words.index(row[place]) for row in rows], dtype=np.int64)
        for place in range(len(texts))
    ]
    powers = np.arange(len(rows))
    schema = TableSchema(texts, counts=("count",), sums=("sum",))
    halves = np.ldexp(np.ones(len(rows)), -powers)
    return build_table(schema, words, columns, counts=[10**powers], sums=[halves])


KEYS = [("day", "1", "car"), ("day", "2", ""), ("", "1", "car")]


def test_totals_are_of_everything_domains_classes_and_sequences() -> None:
    """A row without a name has no scope of its own, but a sequence may have no domain."""
    totals = totals_by_scope(table(("domain", "sequence", "class"), KEYS))
    counts = {scope: total.counts["count"] for scope, total in totals.items()}
    assert counts == {
        EVERYTHING: 111,
        Scope("day"): 11,
        Scope(label="car"): 101,
        Scope("day", "car"): 1,
        Scope("day", sequence="1"): 1,
        Scope("day", sequence="2"): 10,
        Scope(sequence="1"): 100,
    }
    assert to_float(totals[Scope("day")].sums["sum"]) == 1.5
    assert next(iter(totals)) == EVERYTHING


def test_totals_of_parts_keep_their_parts_separate() -> None:
    keys = [(*key, part) for key, part in zip(KEYS, ("low", "high", "low"), strict=True)]
    totals = totals_by_part(table(("domain", "sequence", "class", "part"), keys), "part")
    counts = {part: total.counts["count"] for part, total in totals[EVERYTHING].items()}
    assert counts == {"low": 101, "high": 10}
    assert set(totals[Scope("day", "car")]) == {"low"}


@pytest.mark.parametrize("part", ["", "part"])
def test_a_table_without_rows_has_only_totals_of_everything(part: str) -> None:
    texts = ("domain", "sequence", "class", *([part] if part else []))
    none = [np.zeros(0, dtype=np.int64)] * len(texts)
    empty = build_table(
        TableSchema(texts, counts=("count",)), [], none, counts=[np.zeros(0, dtype=np.int64)]
    )
    totals = totals_by_part(empty, part)
    assert set(totals) == {EVERYTHING}
    if not part:
        assert totals[EVERYTHING][""].counts == {"count": 0}


@given(st.lists(st.integers(0, 4), max_size=30))
def test_the_previous_occurrence_is_the_last_row_with_the_same_key(keys: list[int]) -> None:
    """As found by looking back from each row; -1 if there is none."""
    expected = [
        max((before for before in range(row) if keys[before] == key), default=-1)
        for row, key in enumerate(keys)
    ]
    assert previous_occurrence(np.array(keys, dtype=np.int64)).tolist() == expected


def test_the_previous_occurrence_of_a_negative_key_is_refused() -> None:
    with pytest.raises(ValueError, match="a negative key"):
        previous_occurrence(np.array([2, -1]))

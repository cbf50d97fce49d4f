"""The effect of an upload of truth on sequences: by hand, and merged frame by frame."""

from __future__ import annotations

from vidscore_evaluators.annotations import Annotations, empty_annotations
from vidscore_evaluators.testing.examples import Thing, make_annotations
from vidscore_server.web.site.organise.truth_preview import (
    Preview,
    change_sentence,
    changes_of,
    label_changes,
    merged,
)

Frames = dict[tuple[str, int], list[float]]


def truth(frames: Frames, label: str = "car") -> Annotations:
    """Points on a diagonal, of one label."""
    sequences: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    for (name, number), places in frames.items():
        things = [Thing((place, place), label) for place in places]
        sequences.setdefault(("", name), {})[number] = things
    return make_annotations(sequences, arity=2)


def test_sequences_are_new_changed_removed_or_the_same() -> None:
    before = truth({("a", 1): [1.0], ("b", 1): [1.0, 2.0], ("c", 1): []})
    after = truth({("d", 4): [], ("c", 1): [], ("b", 1): [1.0, 2.5], ("b", 2): []})
    rows = [
        (one.name, one.state, one.before.frames, one.after.frames, one.after.objects)
        for one in changes_of(before, after)
    ]
    assert rows == [
        ("d", "new", 0, 1, 0),
        ("b", "changed", 1, 2, 2),
        ("a", "gone", 1, 0, 0),
        ("c", "the same", 1, 1, 0),
    ]
    assert change_sentence(changes_of(before, after)) == (
        "One sequence is new, one sequence is changed, one sequence is gone, "
        "one sequence stays as it is."
    )


def test_the_order_of_frames_and_objects_makes_no_difference() -> None:
    before = truth({("a", 1): [1.0, 2.0], ("a", 2): [3.0], ("b", 1): []})
    after = truth({("b", 1): [], ("a", 2): [3.0], ("a", 1): [2.0, 1.0]})
    assert [one.state for one in changes_of(before, after)] == ["the same", "the same"]
    assert (
        change_sentence(changes_of(before, after))
        == "It has the same contents as the revision before."
    )


def test_without_an_earlier_revision_everything_is_new() -> None:
    after = truth({("a", 1): [1.0], ("b", 1): []})
    assert [one.state for one in changes_of(None, after)] == ["new", "new"]
    assert merged(None, after) is after
    assert label_changes(None, after) == (("car",), ())


def test_truth_without_frames_removes_every_sequence() -> None:
    some, none = truth({("a", 1): [1.0], ("b", 1): []}), truth({})
    assert [one.state for one in changes_of(some, none)] == ["gone", "gone"]
    assert [one.state for one in changes_of(none, some)] == ["new", "new"]
    assert change_sentence(changes_of(None, none)) == "It has no frames."
    assert merged(none, some).frame_count == merged(some, none).frame_count == 2


def test_merging_keeps_the_frames_that_the_upload_lacks() -> None:
    before = truth({("a", 1): [1.0], ("a", 2): [2.0], ("b", 1): [3.0]})
    found = merged(before, truth({("a", 2): [], ("c", 7): [4.0]}))
    rows = {
        (found.sequences[owner].sequence, number): count
        for owner, number, count in zip(
            found.frame_sequences.tolist(),
            found.frame_numbers.tolist(),
            found.object_counts.tolist(),
            strict=True,
        )
    }
    assert rows == {("a", 1): 1, ("b", 1): 1, ("a", 2): 0, ("c", 7): 1}


def test_another_shape_is_not_merged() -> None:
    """Storing it is refused, but the page must still work."""
    after = truth({("a", 1): [1.0]})
    assert merged(empty_annotations(4), after) is after


def test_added_and_removed_labels_are_listed() -> None:
    before, after = truth({("a", 1): [1.0]}), truth({("a", 1): [1.0]}, "bus")
    assert label_changes(before, after) == (("bus",), ("car",))
    assert label_changes(before, truth({("a", 1): []}, "bus")) == ((), ("car",))


def test_the_table_of_counts_is_bounded_and_says_what_it_leaves_out() -> None:
    """Thousands of sequences and labels made a page of tens of megabytes, and hid sequences."""
    preview = Preview([])
    sequences = {("", f"s{row:03}"): {1: [Thing((1.0, 1.0), "l000")]} for row in range(501)}
    sequences["", "s000"] = {1: [Thing((1.0, 1.0), f"l{row:03}") for row in range(51)]}
    preview.add(make_annotations(sequences, arity=2))
    assert preview.columns == [f"l{row:03}" for row in range(50)]
    assert len(preview.rows) == 500
    assert preview.rows[0] == ("s000", 1, 51, [1] * 50)
    assert preview.left_out == (
        "These are the first 500 of 501 sequences and the first 50 of 51 labels."
    )
    few = Preview([])
    few.add(truth({("a", 1): [1.0, 2.0]}))
    assert (few.rows, few.left_out) == ([("a", 1, 2, [2])], "")

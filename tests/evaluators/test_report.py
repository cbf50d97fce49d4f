"""Reports give their scores as rows, by name and as curves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from vidscore_evaluators.report import Block, Curve, Report, ReportWarning, Row, Scores

REPORT = Report(
    evaluator="e",
    version="1",
    parameters={},
    truth_digest="0" * 32,
    detections_digest="0" * 32,
    scores=Scores(
        blocks=(
            Block({"f1": (0.5,), "hits": (3,)}),
            Block({"f1": (1.0, None)}, ("d",), ("car", "bus"), ("s", "t")),
        ),
        curves=(Curve("roc", {"x": (0, 0.5), "y": (None, 1)}, "d", "car"),),
        warnings=(ReportWarning("odd", "Something odd.", 2),),
    ),
)


def test_rows_are_grouped_by_key_with_the_measures_of_a_key_together() -> None:
    assert REPORT.rows() == [
        Row(None, None, None, "f1", 0.5),
        Row(None, None, None, "hits", 3),
        Row("d", "car", "s", "f1", 1.0),
        Row("d", "bus", "t", "f1", None),
    ]


def test_one_name_can_stand_for_all_keys_of_a_block() -> None:
    block = Block({"n": (1, 2, 3)}, ("d",), (None,), ("a", "b", "c"))
    assert [row[:3] for row in block.rows()] == [
        ("d", None, "a"),
        ("d", None, "b"),
        ("d", None, "c"),
    ]


def test_a_block_without_keys_has_no_rows() -> None:
    assert list(Block({"n": ()}).rows()) == []
    assert list(Block({"n": ()}, (), (), ()).rows()) == []
    assert list(Block({}).rows()) == []


@pytest.mark.parametrize(
    "block",
    [
        Block({"n": (1, 2, 3)}, ("a", "b")),
        Block({"n": (1, 2)}, (None,), (None,), ("a", "b", "c")),
        Block({"n": (1, 2), "m": (1,)}),
    ],
)
def test_columns_of_different_lengths_are_an_error(block: Block) -> None:
    with pytest.raises((ValueError, IndexError)):
        list(block.rows())


def test_a_value_is_found_by_all_its_names() -> None:
    assert REPORT.value("f1") == 0.5
    assert REPORT.value("f1", domain="d", label="car", sequence="s") == 1.0
    assert REPORT.value("f1", domain="d", label="bus", sequence="t") is None


def test_every_row_is_found_by_its_names_and_the_first_of_equal_ones() -> None:
    blocks = (
        Block({"n": (1, 2), "m": (3, None)}, ("d",), (None,), ("a", "b")),
        Block({"n": (4, 5, 6)}, ("e", "d", "d"), ("car", None, "car"), ("a",)),
        Block({"n": ()}, (), (), ()),
    )
    report = replace(REPORT, scores=Scores(blocks))
    found = [
        report.value("n", domain="d", sequence="a"),
        report.value("n", domain="d", sequence="b"),
        report.value("m", domain="d", sequence="a"),
        report.value("m", domain="d", sequence="b"),
        report.value("n", domain="e", label="car", sequence="a"),
        report.value("n", domain="d", label="car", sequence="a"),
    ]
    assert found == [1, 2, 3, None, 4, 6]


@pytest.mark.parametrize(
    ("domain", "label", "sequence"),
    [(None, None, None), ("d", None, None), ("d", "bus", "s"), (None, "car", "s")],
)
def test_a_value_with_unknown_names_is_not_found(
    domain: str | None, label: str | None, sequence: str | None
) -> None:
    report = replace(REPORT, scores=Scores(REPORT.scores.blocks[1:]))
    with pytest.raises(KeyError, match="no score 'f1'"):
        report.value("f1", domain=domain, label=label, sequence=sequence)


def test_a_missing_value_is_a_key_error_that_names_the_measures() -> None:
    with pytest.raises(KeyError, match="measures of this report: f1, hits"):
        REPORT.value("f2")
    with pytest.raises(KeyError, match="'car'"):
        REPORT.value("f1", label="car")


@pytest.mark.parametrize(
    ("measure", "names", "advice"),
    [
        ("hit", {}, "did you mean hits?"),
        ("f1", {"label": "Car"}, "did you mean car?"),
        ("f1", {"label": "zebra"}, "classes of this report: bus, car"),
        ("f1", {"domain": "d", "label": "car", "sequence": "S"}, "did you mean s?"),
        ("f1", {"domain": "x"}, "domains of this report: d"),
        ("hits", {"domain": "d"}, "measures of this report: f1, hits"),
        ("f1", {"label": 1}, "classes of this report are strings: 'bus', 'car'"),
    ],
)
def test_a_name_without_scores_is_reported_with_the_known_ones(
    measure: str, names: dict[str, Any], advice: str
) -> None:
    with pytest.raises(KeyError) as caught:
        REPORT.value(measure, **names)
    assert str(caught.value.args[0]).partition("; ")[2] == advice


def test_a_score_that_needs_more_names_is_reported_with_the_places_that_have_it() -> None:
    """Two sequences of one name in different domains."""
    block = Block({"f1": (1.0, 0.5)}, domains=("day", "night"), sequences=("s0",))
    report = replace(REPORT, scores=Scores((Block({"f1": (0.7,)}), block)))
    with pytest.raises(KeyError) as caught:
        report.value("f1", sequence="s0")
    assert str(caught.value.args[0]).partition("; ")[2] == (
        "this report has it for (domain='day', sequence='s0'), (domain='night', sequence='s0')"
    )


def test_only_a_few_of_many_names_are_listed() -> None:
    names = tuple(f"s{number:03}" for number in range(100))
    block = Block({"f1": (1.0,) * 100}, sequences=names)
    report = replace(REPORT, scores=Scores((block,)))
    with pytest.raises(KeyError) as caught:
        report.value("f1", sequence="tunnel")
    assert str(caught.value.args[0]).endswith("s018, s019 and 80 more")


@pytest.mark.parametrize(
    ("name", "label", "advice"),
    [
        ("rok", "car", "did you mean roc?"),
        ("roc", "Car", "did you mean car?"),
        ("roc", None, "curves of this report: roc"),
    ],
)
def test_a_missing_curve_is_reported_with_the_existing_ones(
    name: str, label: str | None, advice: str
) -> None:
    with pytest.raises(KeyError) as caught:
        REPORT.curve(name, domain="d", label=label)
    assert str(caught.value.args[0]).partition("; ")[2] == advice


def test_points_of_a_curve_are_dictionaries() -> None:
    assert REPORT.curve("roc", domain="d", label="car").points() == [
        {"x": 0, "y": None},
        {"x": 0.5, "y": 1},
    ]
    with pytest.raises(KeyError, match="roc"):
        REPORT.curve("roc")


def test_warnings_are_those_of_the_scores() -> None:
    assert [(warning.code, warning.count) for warning in REPORT.warnings] == [("odd", 2)]

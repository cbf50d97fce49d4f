"""A preset's name becomes its evaluators, labels and format; an evaluator's name is unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from vidscore_evaluators.errors import (
    InputError,
    ParameterError,
    UnknownEvaluatorError,
)
from vidscore_evaluators.presets import (
    create_evaluators,
    evaluators_of,
    find_preset,
    format_of,
    preset_names,
    preset_of,
    repeated_evaluators,
    without_files,
)
from vidscore_evaluators.specification import BenchmarkSpec, DomainSpec, EvaluatorSpec

TEXT = """
title = "Streets"
benchmark = "Street scenes"
version = "1.0.0"
scorer = "none"
format = "yolo-text"
labels = ["car"]

[[evaluators]]
name = "map"
[[evaluators]]
name = "f1"
parameters = { threshold = 0.25 }
"""


@pytest.fixture
def street(tmp_path: Path) -> str:
    """Path of a preset's file."""
    path = tmp_path / "street.toml"
    path.write_text(TEXT)
    return str(path)


def spec(*names: str, classes: tuple[str, ...] | None = None) -> BenchmarkSpec:
    return BenchmarkSpec(evaluators=tuple(map(EvaluatorSpec, names)), classes=classes)


def test_its_evaluators_are_in_the_order_of_the_file_between_the_others(street: str) -> None:
    created = create_evaluators(spec("hausdorff", street, "ospa"), files=True)
    assert [(one.name, one.preset) for one in created] == [
        ("hausdorff", None),
        ("map", "street.toml"),
        ("f1", "street.toml"),
        ("ospa", None),
    ]
    assert created[2].parameters.threshold == 0.25


def test_its_labels_apply_only_to_its_evaluators(street: str) -> None:
    created = create_evaluators(spec("hausdorff", street), files=True)
    assert [one.specification.classes_of("any") for one in created] == [None, ("car",), ("car",)]


def test_labels_of_the_specification_override_those_of_the_preset(street: str) -> None:
    domains = (DomainSpec("north", ("bus",)), DomainSpec("south"))
    created = evaluators_of(EvaluatorSpec(street), BenchmarkSpec(domains=domains), files=True)
    asked = [created[0].scored_classes(name) for name in ("north", "south", "west")]
    assert asked == [("bus",), ("car",), ("car",)]
    created = evaluators_of(EvaluatorSpec(street), BenchmarkSpec(classes=("tram",)), files=True)
    assert created[0].scored_classes("west") == ("tram",)


def test_a_preset_takes_no_parameters_and_the_error_gives_advice() -> None:
    with pytest.raises(ParameterError) as caught:
        evaluators_of(EvaluatorSpec("mot17", {"threshold": 0.25}), BenchmarkSpec())
    assert str(caught.value) == (
        "threshold: the preset mot17 fixes its parameters; for others make a preset of your own: "
        "`vidscore evaluators mot17 --format toml --output my.toml`, then name my.toml"
    )


@pytest.mark.parametrize("name", ["spotgeo", "neovision2"])
def test_a_name_of_both_means_the_evaluator(name: str) -> None:
    assert name in preset_names()
    assert preset_of(name) is None
    [plain] = evaluators_of(EvaluatorSpec(name), BenchmarkSpec())
    assert (plain.name, plain.preset) == (name, None)


def test_a_name_of_both_may_be_given_parameters() -> None:
    [evaluator] = evaluators_of(EvaluatorSpec("spotgeo", {"tau": 5.0}), BenchmarkSpec())
    assert evaluator.parameters.tau == 5.0


def test_an_unknown_name_gets_the_nearest_preset_as_advice() -> None:
    with pytest.raises(UnknownEvaluatorError, match=r"'mot71'; did you mean mot17\?"):
        evaluators_of(EvaluatorSpec("mot71"), BenchmarkSpec())
    with pytest.raises(UnknownEvaluatorError, match="no preset is called 'hota'"):
        find_preset("hota")


@pytest.mark.parametrize("name", ["../presets/mot17", "_names", "MOT17", "", "mot17/", "a\0b"])
def test_only_a_name_finds_a_file_of_ours(name: str) -> None:
    assert preset_of(name) is None


def test_a_path_is_read_only_if_that_is_allowed(street: str) -> None:
    with pytest.raises(UnknownEvaluatorError, match="names a file, which cannot be read from here"):
        evaluators_of(EvaluatorSpec(street), BenchmarkSpec())


def test_a_repeated_evaluator_is_a_fault_if_reports_are_found_by_name() -> None:
    [fault] = repeated_evaluators(create_evaluators(spec("mot17", "hota")))
    assert fault.found == "hota of the preset mot17 and by itself"


def test_the_format_is_that_of_the_preset_unless_one_is_named(street: str) -> None:
    [own, mot] = map(EvaluatorSpec, (street, "mot17"))
    plain = EvaluatorSpec("f1")
    assert format_of([plain, mot], "auto") == "motchallenge"
    assert format_of([mot], "generic-csv") == "generic-csv"
    assert format_of([plain], "auto") == "auto"
    assert format_of([own, mot], "auto", files=True) == "auto"


def test_another_machine_gets_the_evaluators_of_a_file_in_place_of_its_path(street: str) -> None:
    sent, presets = without_files(spec(street))
    assert sent == BenchmarkSpec(
        evaluators=(EvaluatorSpec("map"), EvaluatorSpec("f1", {"threshold": 0.25})),
        classes=("car",),
    )
    assert presets == {"map": "street.toml", "f1": "street.toml"}
    assert without_files(spec("mot17")) == (spec("mot17"), {})


def test_labels_of_a_file_cannot_be_sent_for_only_some_evaluators(street: str) -> None:
    with pytest.raises(ParameterError, match="beside other evaluators"):
        without_files(spec(street, "ospa"))
    sent, _ = without_files(spec(street, "ospa", classes=("bus",)))
    assert sent.classes == ("bus",)
    with pytest.raises(ParameterError, match="fixes its parameters"):
        without_files(BenchmarkSpec(evaluators=(EvaluatorSpec(street, {"x": 1}),)))


def test_a_file_that_is_not_a_preset_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(TEXT.replace("map", "none"))
    with pytest.raises(InputError, match=r"bad\.toml, evaluators\[0\]\.name"):
        evaluators_of(EvaluatorSpec(str(path)), BenchmarkSpec(), files=True)

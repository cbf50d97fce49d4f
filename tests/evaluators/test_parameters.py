"""Parameters are read from texts and numbers, checked against their bounds, and described."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.parameters import (
    Bounds,
    describe_parameters,
    json_schema,
    parameter,
    parameter_values,
    parse_parameters,
)
from vidscore_evaluators.testing.checks import schema_fault


@dataclass(frozen=True)
class Sample:
    tau: float = parameter(10.0, "A distance.", unit="px", exclusive_minimum=0, grid=(1.0, 2.0))
    epsilon: float = parameter(3.0, "Another.", minimum=0, maximum=100, exclusive_maximum=50)
    limit: int = parameter(30, "A number of things.", minimum=1, maximum=2**62)
    strict: bool = parameter(False, "Whether.")
    shape: Literal["box", "union"] = parameter("box", "Which.")
    note: str = parameter("", "Any text.")
    thresholds: tuple[float, ...] = parameter((0.5, 0.25), "Some.", minimum=0, maximum=1)
    classes: tuple[str, ...] = parameter(("a",), "Names.")

    def faults(self) -> Iterator[Fault]:
        if self.epsilon >= self.tau:
            yield Fault(f"{self.epsilon:g}", f"less than tau = {self.tau:g}", field="epsilon")


NAMES = list(Sample.__dataclass_fields__)


def _faults(**values: object) -> list[str]:
    with pytest.raises(ParameterError) as caught:
        parse_parameters(Sample, values)
    return [str(fault) for fault in caught.value.faults]


def test_an_omitted_parameter_has_its_default() -> None:
    assert parse_parameters(Sample, {}) == Sample()
    assert parse_parameters(Sample, {"tau": 4}) == Sample(tau=4.0)


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("tau", "7.5", 7.5),
        ("tau", 7, 7.0),
        ("tau", np.float64(7.5), 7.5),
        ("limit", "31", 31),
        ("limit", 31.0, 31),
        ("limit", "31.0", 31),
        ("limit", 2**53 + 1, 2**53 + 1),
        ("limit", str(2**53 + 1), 2**53 + 1),
        ("strict", "TRUE", True),
        ("strict", "false", False),
        ("strict", True, True),
        ("shape", "union", "union"),
        ("note", "a, b", "a, b"),
        ("thresholds", "0.5,1", (0.5, 1.0)),
        ("thresholds", [0, "0.25"], (0.0, 0.25)),
        ("thresholds", "", ()),
        ("thresholds", [], ()),
        ("classes", "car,bus", ("car", "bus")),
        ("classes", ("car",), ("car",)),
        ("classes", "", ()),
    ],
)
def test_values_are_read_as_their_declared_type(name: str, given: object, expected: object) -> None:
    value = getattr(parse_parameters(Sample, {name: given}), name)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("name", "given", "fault"),
    [
        ("tau", "seven", "tau: found 'seven', expected a number"),
        ("tau", True, "tau: found True, expected a number"),
        ("tau", None, "tau: found None, expected a number"),
        ("tau", [1], "tau: found [1], expected a number"),
        ("tau", "nan", "tau: found 'nan', expected a finite number"),
        ("tau", float("inf"), "tau: found inf, expected a finite number"),
        ("tau", 10**400, f"tau: found {str(10**400)[:80]}, expected a number"),
        ("tau", 0, "tau: found 0, expected more than 0"),
        ("epsilon", -0.5, "epsilon: found -0.5, expected at least 0"),
        ("epsilon", 101, "epsilon: found 101, expected at most 100"),
        ("epsilon", 50, "epsilon: found 50, expected less than 50"),
        ("limit", 2.5, "limit: found 2.5, expected an integer"),
        ("limit", "2.5", "limit: found '2.5', expected an integer"),
        ("limit", "x", "limit: found 'x', expected an integer"),
        ("limit", True, "limit: found True, expected an integer"),
        ("limit", float("nan"), "limit: found nan, expected an integer"),
        ("limit", 0, "limit: found 0, expected at least 1"),
        ("strict", "yes", "strict: found 'yes', expected true or false"),
        ("strict", 1, "strict: found 1, expected true or false"),
        ("shape", "circle", "shape: found 'circle', expected one of box, union"),
        ("shape", ["box"], "shape: found ['box'], expected one of box, union"),
        ("note", 3, "note: found 3, expected a text"),
        ("thresholds", 0.5, "thresholds: found 0.5, expected an array of numbers"),
        ("thresholds", b"ab", "thresholds: found b'ab', expected an array of numbers"),
        ("thresholds", {"a": 1}, "thresholds: found {'a': 1}, expected an array of numbers"),
        ("thresholds", [0.5, 2], "thresholds: found [0.5, 2], expected at most 1"),
        ("thresholds", [0.5, "x"], "thresholds: found [0.5, 'x'], expected a number"),
        ("classes", [1.5], "classes: found [1.5], expected a text"),
        ("classes", [True], "classes: found [True], expected a text"),
    ],
)
def test_an_invalid_value_is_named_with_what_was_expected(
    name: str, given: object, fault: str
) -> None:
    assert _faults(**{name: given}) == [fault]


def test_every_fault_is_listed_not_only_the_first() -> None:
    faults = _faults(tau="x", limit=0, nonsense=1)
    assert faults == [
        "tau: found 'x', expected a number",
        "limit: found 0, expected at least 1",
        "nonsense: unknown parameter; there are " + ", ".join(NAMES),
    ]


def test_an_unknown_parameter_gets_the_closest_known_one() -> None:
    assert _faults(treshold=1) == ["treshold: unknown parameter; did you mean thresholds?"]
    assert _faults(TAU=1) == ["TAU: unknown parameter; did you mean tau?"]


def test_integers_in_an_array_of_texts_become_texts_of_their_digits() -> None:
    """The wire has numbers as floats, so 3.0 becomes 3."""
    assert parse_parameters(Sample, {"classes": [3, 4.0, "car"]}).classes == ("3", "4", "car")


def test_faults_between_parameters_are_found_once_each_is_valid_alone() -> None:
    assert _faults(tau=2) == ["epsilon: found 3, expected less than tau = 2"]
    assert _faults(tau="2", epsilon="x") == ["epsilon: found 'x', expected a number"]


@given(
    st.dictionaries(
        st.sampled_from([*NAMES, "other"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
            max_leaves=5,
        ),
    )
)
def test_any_input_gives_parameters_within_bounds_or_a_parameter_error(
    values: dict[str, object],
) -> None:
    try:
        parsed = parse_parameters(Sample, values)
    except ParameterError:
        return
    assert parse_parameters(Sample, parameter_values(parsed)) == parsed
    properties = json_schema(Sample)["properties"]
    for name, value in parameter_values(parsed).items():
        sent: Any = list(value) if isinstance(value, tuple) else value
        assert schema_fault(properties[name], sent) is None


def test_parameters_are_described_in_order_with_all_declarations() -> None:
    described = {entry.name: entry for entry in describe_parameters(Sample)}
    assert list(described) == NAMES
    assert described["tau"].bounds == Bounds(
        "A distance.", unit="px", exclusive_minimum=0, grid=(1.0, 2.0)
    )
    assert [entry.type_name for entry in described.values()] == [
        "number",
        "number",
        "integer",
        "boolean",
        "string",
        "string",
        "array of number",
        "array of string",
    ]
    assert described["shape"].choices == ("box", "union")
    assert described["limit"].default == 30


def test_the_schema_has_type_bounds_default_unit_and_grid() -> None:
    properties = json_schema(Sample)["properties"]
    assert properties["tau"] == {
        "type": "number",
        "description": "A distance.",
        "default": 10.0,
        "exclusiveMinimum": 0,
        "unit": "px",
        "grid": [1.0, 2.0],
    }
    assert properties["shape"]["enum"] == ["box", "union"]


def test_bounds_of_an_array_are_those_of_its_items() -> None:
    """`minimum` beside `"type": "array"` would have no effect."""
    assert json_schema(Sample)["properties"]["thresholds"] == {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": 1},
        "description": "Some.",
        "default": [0.5, 0.25],
    }


@pytest.mark.parametrize(
    ("bounds", "inside", "outside"),
    [
        (Bounds("", minimum=1), 1, 0.999),
        (Bounds("", maximum=1), 1, 1.001),
        (Bounds("", exclusive_minimum=1), 1.001, 1),
        (Bounds("", exclusive_maximum=1), 0.999, 1),
    ],
)
def test_bounds_are_inclusive(bounds: Bounds, inside: float, outside: float) -> None:
    assert bounds.broken_by(inside) is None
    assert bounds.broken_by(outside)


def test_values_are_those_of_the_instance_in_order() -> None:
    assert list(parameter_values(Sample(tau=4.0)).items())[:2] == [("tau", 4.0), ("epsilon", 3.0)]


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("tau", np.float32(0.5), 0.5),
        ("tau", np.float32(3.1), float(np.float32(3.1))),
        ("tau", np.float16(4.0), 4.0),
        ("tau", np.int64(7), 7.0),
        ("tau", np.array(4.5), 4.5),
        ("limit", np.int64(2**62), 2**62),
        ("limit", np.uint8(3), 3),
        ("limit", np.float32(3.0), 3),
        ("strict", np.bool_(True), True),
        ("thresholds", np.array([0.25, 0.75]), (0.25, 0.75)),
        ("thresholds", np.array([0, 1]), (0.0, 1.0)),
        ("thresholds", np.array([0.1], dtype=np.float32), (float(np.float32(0.1)),)),
        ("thresholds", [np.float32(0.5), np.int8(1)], (0.5, 1.0)),
        ("thresholds", np.array([]), ()),
        ("classes", np.array(["car", "van"]), ("car", "van")),
        ("classes", np.array([1, 2]), ("1", "2")),
        ("shape", np.str_("union"), "union"),
    ],
)
def test_numbers_and_arrays_of_numpy_are_read_exactly(name: str, given: Any, expected: Any) -> None:
    value = getattr(parse_parameters(Sample, {name: given, "epsilon": 0}), name)
    assert value == expected
    # As JSON has it.
    items = value if isinstance(value, tuple) else (value,)
    assert {type(item) for item in items} <= {bool, int, float, str}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("tau", np.bool_(True), "a number"),
        ("tau", np.array([1.0]), "a number"),
        ("tau", np.float32("nan"), "a finite number"),
        ("tau", np.complex64(1), "a number"),
        ("strict", np.int64(1), "true or false"),
        ("thresholds", np.array([[0.5]]), "a number"),
        ("thresholds", np.array([True]), "a number"),
        ("thresholds", np.float64(0.5), "an array of numbers"),
        ("thresholds", np.ma.array([0.5, 0.6], mask=[False, True]), "a number"),
        ("thresholds", np.array([0.5, 1.5]), "at most 1"),
    ],
)
def test_numpy_values_have_the_same_types_and_bounds(name: str, given: Any, expected: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse_parameters(Sample, {name: given})
    assert [fault.expected for fault in caught.value.faults] == [expected]

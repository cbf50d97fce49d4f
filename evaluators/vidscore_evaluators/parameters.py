"""Parameters of evaluators: declared once as a frozen dataclass, checked and described from it.

A parameter is a dataclass field made by `parameter`, which carries its bounds, its choices and,
where sweeping it makes sense, its grid. `parse_parameters` turns outside input into an instance
and reports every fault; `json_schema` describes the class. Supported types: bool, int, float, str
and tuples of str or float.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeVar

from msgspec import Struct

from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.names import name_advice

Value = bool | int | float | str | tuple[str, ...] | tuple[float, ...]
ParametersType = TypeVar("ParametersType")

GRID_STEPS = 20
"""Steps of the threshold grid per unit of similarity: 0, 0.05, ..., 1."""

PARTIAL = tuple(step / GRID_STEPS for step in range(GRID_STEPS // 2, GRID_STEPS))
"""0.5, 0.55, ..., 0.95: the thresholds of M-partial, and COCO's."""

_BOUNDS = "vidscore"
_TYPE_NAMES = {bool: "boolean", int: "integer", float: "number", str: "string"}


class Bounds(Struct, frozen=True):
    """What a parameter's value may be, besides its type.

    Attributes:
        description: What it does, in one sentence.
        unit: Unit of a number, empty if it has none.
        minimum: Least value.
        maximum: Greatest value.
        exclusive_minimum: The value must be above this.
        exclusive_maximum: The value must be below this.
        grid: Values that a sweep goes through; empty if sweeping makes no sense.
    """

    description: str
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None
    grid: tuple[float, ...] = ()

    def broken_by(self, number: float) -> str | None:
        """What is expected instead of a number out of bounds; None if it is within them."""
        if self.minimum is not None and number < self.minimum:
            return f"at least {self.minimum:g}"
        if self.maximum is not None and number > self.maximum:
            return f"at most {self.maximum:g}"
        if self.exclusive_minimum is not None and number <= self.exclusive_minimum:
            return f"more than {self.exclusive_minimum:g}"
        if self.exclusive_maximum is not None and number >= self.exclusive_maximum:
            return f"less than {self.exclusive_maximum:g}"
        return None


class ParameterDescription(Struct, frozen=True):
    """One parameter as users see it.

    Attributes:
        name: Its name.
        type_name: ``boolean``, ``integer``, ``number``, ``string``, or ``array of`` one of these.
        default: Its default.
        choices: The values that it may take; empty if any within the bounds.
        bounds: Its description, unit, bounds and grid.
    """

    name: str
    type_name: str
    default: Value
    choices: tuple[str, ...]
    bounds: Bounds


def parameter(default: Any, description: str, **bounds: Any) -> Any:
    """Declare a parameter: a dataclass field with its `Bounds`.

    Args:
        default: Its default, within the bounds.
        description: What it does, in one sentence.
        bounds: Further attributes of `Bounds`.
    """
    metadata = {_BOUNDS: Bounds(description, **bounds)}
    return dataclasses.field(default=default, metadata=metadata)


@lru_cache(maxsize=64)
def _hints(parameters: type) -> dict[str, Any]:
    """Types of a class's fields; cached, because reading them takes as long as a small scoring."""
    return typing.get_type_hints(parameters)


def describe_parameters(parameters: type) -> tuple[ParameterDescription, ...]:
    """Describe every parameter of a class, in order."""
    return _described(parameters)


@lru_cache(maxsize=64)
def _described(parameters: type) -> tuple[ParameterDescription, ...]:
    hints = _hints(parameters)
    return tuple(
        ParameterDescription(
            name=field.name,
            type_name=_type_name(hints[field.name]),
            default=typing.cast("Value", field.default),
            choices=_choices(hints[field.name]),
            bounds=field.metadata[_BOUNDS],
        )
        for field in dataclasses.fields(parameters)
    )


def parse_parameters(
    parameters: type[ParametersType], values: Mapping[str, object], called: str = "parameter"
) -> ParametersType:
    """Check values from outside and build the dataclass.

    Strings are read as the parameter's type (command line), and floats without a fraction as
    integers (wire). Numbers and arrays of numpy are read as the numbers that they hold: a float32
    is the float of its exact value. A class may define ``faults()``, which yields violations
    between parameters.

    Args:
        parameters: A dataclass whose fields are made by `parameter`.
        values: Values by name; those left out take their default.
        called: Word for one of them in messages.

    Raises:
        ParameterError: With every unknown name, wrong type and broken bound.
    """
    # A dataclass type is hashable, which the type checker does not see.
    of_class = typing.cast("type", parameters)
    hints = _hints(of_class)
    described = {description.name: description for description in describe_parameters(of_class)}
    faults: list[Fault] = []
    accepted: dict[str, Value] = {}
    for name, value in values.items():
        if name not in described:
            advice = name_advice(name, list(described))
            faults.append(Fault(f"unknown {called}", "", field=name, advice=advice))
            continue
        try:
            accepted[name] = _convert(value, hints[name])
            _check_bounds(accepted[name], described[name].bounds)
        except ValueError as error:
            faults.append(Fault(found=_show(value), expected=str(error), field=name))
    if not faults:
        built = parameters(**accepted)
        faults = list(getattr(built, "faults", tuple)())
        if not faults:
            return built
    raise ParameterError(faults)


def parameter_values(parameters: object) -> dict[str, Value]:
    """Every parameter of an instance by name, in order, as JSON can hold it."""
    return {
        field.name: getattr(parameters, field.name)
        for field in dataclasses.fields(typing.cast("Any", parameters))
    }


def json_schema(parameters: type) -> dict[str, Any]:
    """JSON Schema (2020-12) of a parameters class."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            description.name: _property_schema(description)
            for description in describe_parameters(parameters)
        },
    }


def _property_schema(description: ParameterDescription) -> dict[str, Any]:
    bounds = description.bounds
    default = description.default
    limits = {
        "minimum": bounds.minimum,
        "maximum": bounds.maximum,
        "exclusiveMinimum": bounds.exclusive_minimum,
        "exclusiveMaximum": bounds.exclusive_maximum,
    }
    # Bounds apply to numbers; those of an array are given for its items.
    item = {"type": description.type_name.removeprefix("array of ")} | _without_none(limits)
    schema = {"type": "array", "items": item} if isinstance(default, tuple) else item
    about = {
        "description": bounds.description,
        "default": list(default) if isinstance(default, tuple) else default,
        "enum": list(description.choices) or None,
        "unit": bounds.unit or None,
        "grid": list(bounds.grid) or None,
    }
    return schema | _without_none(about)


def _without_none(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


def _type_name(hint: Any) -> str:
    if typing.get_origin(hint) is tuple:
        return f"array of {_TYPE_NAMES[typing.get_args(hint)[0]]}"
    return "string" if typing.get_origin(hint) is Literal else _TYPE_NAMES[hint]


def _choices(hint: Any) -> tuple[str, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) is Literal else ()


def _convert(value: object, hint: Any) -> Value:
    """Read `value` as the type `hint`; a ValueError's text says what was expected."""
    value = _plain(value)
    if typing.get_origin(hint) is Literal:
        return _convert_choice(value, typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return _convert_array(value, typing.get_args(hint)[0])
    converted: Value = _CONVERTERS[hint](value)
    return converted


def _plain(value: object) -> object:
    """Convert numbers and arrays of numpy, tensors and the like to Python's own, exactly."""
    convert = getattr(value, "tolist", None)
    return value if convert is None else convert()


def _convert_choice(value: object, choices: Sequence[str]) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError("one of " + ", ".join(choices))


def _convert_array(value: object, item: type) -> tuple[Any, ...]:
    items = (value.split(",") if value else ()) if isinstance(value, str) else value
    if not isinstance(items, Sequence) or isinstance(items, bytes):
        raise ValueError(f"an array of {_TYPE_NAMES[item]}s")
    convert = _convert_label if item is str else _CONVERTERS[item]
    return tuple(convert(_plain(entry)) for entry in items)


def _convert_bool(value: object) -> bool:
    words = {"true": True, "false": False}
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise ValueError("true or false")


def _convert_int(value: object) -> int:
    """Read an integer; digits are not read as a float, which would round large ones."""
    try:
        if isinstance(value, str) and value.strip().lstrip("+-").isdigit():
            return int(value)
        number = value if type(value) is int else _convert_float(value)
    except ValueError:
        raise ValueError("an integer") from None
    if number != int(number):
        raise ValueError("an integer")
    return int(number)


def _convert_float(value: object) -> float:
    try:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError("a number") from None
    if not math.isfinite(number):
        raise ValueError("a finite number")
    return number


def _convert_label(value: object) -> str:
    """Read a string of an array, usually a class; an integer may stand for it."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))
    return _convert_str(value)


def _convert_str(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


_CONVERTERS: Mapping[Any, Any] = types.MappingProxyType(
    {bool: _convert_bool, int: _convert_int, float: _convert_float, str: _convert_str}
)


def _check_bounds(value: Value, bounds: Bounds) -> None:
    for number in value if isinstance(value, tuple) else (value,):
        expected = None if isinstance(number, str) else bounds.broken_by(number)
        if expected is not None:
            raise ValueError(expected)


def _show(value: object) -> str:
    return repr(value)[:80]

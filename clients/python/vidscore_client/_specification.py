"""A benchmark's specification and definition from dictionaries to messages.

The dictionary form is that of TOML files: a definition has the keys of a specification, and beside
them ``description``, ``truth_geometry``, ``detection_geometry``, ``open_time``, ``close_time``,
``public_names`` and the tables ``policy`` and ``live``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vidscore_client._convert import checked
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import Geometry
from vidscore_protos.dictionaries import (
    DEFINITION,
    EVALUATOR,
    POLICY,
    SPECIFICATION,
    TIME_FIELDS,
    geometry_of,
)
from vidscore_protos.forms import fill_message
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2

Specification = Mapping[str, Any] | specification_pb2.BenchmarkSpec
"""A specification as dictionaries, as in a manifest or a report, or as the proto message."""

Definition = Mapping[str, Any]
"""A benchmark's definition as dictionaries, lists, strings, numbers and times."""

UPDATABLE = ("specification", "description", *TIME_FIELDS, "policy", "public_names")
"""Fields that may change after the creation of a benchmark."""


def encode_specification(
    evaluators: Sequence[EvaluatorChoice], specification: Specification | None
) -> specification_pb2.BenchmarkSpec:
    """Combine a specification and the chosen evaluators.

    Args:
        evaluators: The evaluators; if empty, those of the specification.
        specification: The rest; None for nothing.

    Raises:
        InputError: If something has a type or a key that a specification cannot hold.
    """
    message = encode_bare_specification(specification)
    chosen = encode_evaluators("evaluators", evaluators)
    if chosen:
        del message.evaluators[:]
        message.evaluators.extend(chosen)
    if not message.evaluators:
        raise InputError("evaluators", "none", "at least one name")
    return message


def encode_bare_specification(
    specification: Specification | None,
) -> specification_pb2.BenchmarkSpec:
    """Put a specification into a message; it may have no evaluators.

    Raises:
        InputError: If something has a type or a key that a specification cannot hold.
    """
    message = specification_pb2.BenchmarkSpec()
    if isinstance(specification, specification_pb2.BenchmarkSpec):
        message.CopyFrom(specification)
    elif specification is not None:
        with checked():
            fill_message(message, "specification", specification, SPECIFICATION)
    return message


def encode_evaluators(
    argument: str, choices: Sequence[EvaluatorChoice]
) -> list[specification_pb2.EvaluatorSpec]:
    """Chosen evaluators as messages.

    Args:
        argument: Name of their argument.
        choices: The choices.

    Raises:
        InputError: If one is not a valid choice.
    """
    if isinstance(choices, str):
        raise InputError(argument, "a string", "a list of names")
    return [_choice(f"{argument}[{index}]", entry) for index, entry in enumerate(choices)]


def _choice(path: str, choice: EvaluatorChoice) -> specification_pb2.EvaluatorSpec:
    if isinstance(choice, str):
        return specification_pb2.EvaluatorSpec(name=choice)
    try:
        name, parameters = choice
    except (TypeError, ValueError):
        raise InputError(path, repr(choice)[:80], "a name, or (name, parameters)") from None
    message = specification_pb2.EvaluatorSpec()
    with checked():
        fill_message(message, path, {"name": name, "parameters": parameters}, EVALUATOR)
    return message


def encode_definition(definition: Definition) -> benchmark_pb2.Benchmark:
    """A definition as a message.

    Raises:
        InputError: If something has a type or a key that a definition cannot hold.
    """
    if not isinstance(definition, Mapping):
        raise InputError("definition", repr(definition)[:80], "an object")
    known = (*SPECIFICATION, *DEFINITION, "policy")
    for key in definition:
        if key not in known:
            raise InputError(key, "an unknown key", "one of " + ", ".join(known))
    rest = {key: value for key, value in definition.items() if key in SPECIFICATION}
    message = benchmark_pb2.Benchmark(specification=encode_specification((), rest))
    with checked():
        for key, form in DEFINITION.items():
            if definition.get(key) is not None:
                form.fill(message, key, definition[key], key)
        if "policy" in definition:
            message.policy.SetInParent()
            fill_message(message.policy, "policy", definition["policy"], POLICY)
    return message


def encode_geometry(name: str, geometry: Geometry) -> annotations_pb2.Geometry:
    """A shape of objects in wire form.

    Args:
        name: Name of the argument, for errors.
        geometry: The shape.

    Raises:
        InputError: If it is none.
    """
    with checked():
        return geometry_of(name, geometry)

"""What is asked of a trust analysis: fields that are left out take their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from google.protobuf.message import Message

from vidscore.v1 import trust_pb2
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.trust.ranking import Questions


def read_questions(message: trust_pb2.RankingQuestions, path: str) -> Questions:
    """What is asked of a ranking.

    Args:
        message: The questions.
        path: Their path in the request.

    Raises:
        ParameterError: With every fault.
    """
    try:
        return parse_parameters(Questions, given(message))
    except ParameterError as error:
        raise ParameterError(
            [replace(fault, field=f"{path}.{fault.field}") for fault in error.faults]
        ) from None


def given(message: Message, *names: str) -> Mapping[str, object]:
    """Values of the fields that are set, by name; of those that are named, or of all."""
    return {
        field.name: value
        for field, value in message.ListFields()
        if not names or field.name in names
    }

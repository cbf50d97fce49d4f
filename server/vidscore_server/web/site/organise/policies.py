"""A policy as the texts of a form, and back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vidscore_evaluators.parameters import describe_parameters, parse_parameters
from vidscore_server.domain.policy import Policy

YES, NO = "true", "false"

_ENTRY = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]+))')
"""An entry of a list: in double quotes, or as it is up to the next comma."""


def policy_texts(policy: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form, as a policy fills them.

    Args:
        policy: The policy as a call gives it.
    """
    found = {}
    for entry in describe_parameters(Policy):
        value = policy.get(entry.name, policy.get(entry.name.removesuffix("_s")))
        if entry.name == "submissions_in_all" and policy.get("unlimited_submissions"):
            value = 0
        found[entry.name] = _text(entry.default if value is None else value)
    return found


def _text(value: object) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    if isinstance(value, list | tuple):
        return ", ".join(map(_entry, map(str, value)))
    # With every digit: what stands in a form is what it stores.
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _entry(name: str) -> str:
    """An entry of a list, in double quotes where it would not be read as it is."""
    if name == name.strip() and not set(name) & set(',"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def _entries(text: str) -> tuple[str, ...]:
    return tuple(
        quoted.replace('""', '"') or bare.strip()
        for quoted, bare in _ENTRY.findall(text)
        if quoted or bare.strip()
    )


def read_policy(values: Mapping[str, str]) -> Policy:
    """The policy that a form stands for.

    Args:
        values: What was typed.

    Raises:
        ParameterError: With every fault.
    """
    given: dict[str, object] = {}
    for entry in describe_parameters(Policy):
        text = values.get(entry.name)
        if text is None:
            continue
        if entry.type_name.startswith("array"):
            given[entry.name] = _entries(text)
        elif entry.type_name == "string":
            given[entry.name] = text.strip()
        else:
            given[entry.name] = text.strip() or entry.default
    return parse_parameters(Policy, given)

"""Changes of a policy in a form, with a preview of what they would release."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.parameters import describe_parameters, parse_parameters
from vidscore_server.domain.policy import Policy
from vidscore_server.web.site.forms import Form, refused_input, typed
from vidscore_server.web.site.organise.updates import (
    is_overtaken,
    organised_benchmark,
    refused_update,
)
from vidscore_server.web.site.phrases import counted, last_part, value_text
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

_NAMES = {entry.name: entry.name for entry in describe_parameters(Policy)}
FIELDS: Mapping[str, str] = (
    _NAMES
    | {f"benchmark.policy.{name}": name for name in _NAMES}
    | {f"policy.{name}": name for name in _NAMES}
)
"""Fields of the form by fields of a policy, and by paths of a request."""


async def show(visit: Visit) -> Response:
    """The form."""
    benchmark = await organised_benchmark(visit)
    form = Form(_typed_texts(benchmark["policy"]))
    return await _page(visit, 200, benchmark, form, benchmark["etag"])


async def change(visit: Visit) -> Response:
    """Preview what a change would release, or make it."""
    fields = await visit.form()
    values = typed(fields)
    benchmark = await organised_benchmark(visit)
    etag = values.pop("etag", "")
    saves = values.pop("save", "") == "yes"
    try:
        policy = read_policy(values)
    except InputError as error:
        form = refused_input(values, error.faults, FIELDS)
        return await _page(visit, 400, benchmark, form, etag)
    changed = {"name": benchmark["name"], "policy": policy, "etag": etag}
    try:
        answer = await visit.call(
            "BenchmarkService/UpdateBenchmark",
            benchmark=changed,
            update_mask=["policy"],
            validate_only=not saves,
        )
    except ServiceError as error:
        form = refused_update(values, error, FIELDS, _others(values, benchmark["policy"]))
        etag = benchmark["etag"] if is_overtaken(error) else etag
        return await _page(visit, error.http_status, benchmark, form, etag)
    if saves:
        return visit.go(f"/organise/{benchmark['name']}")
    preview = preview_rows(answer["team_views"])
    return await _page(visit, 200, benchmark, Form(values), etag, preview, answer)


def _typed_texts(policy: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form for a policy, as an organiser would type them."""
    texts = policy_texts(policy)
    if policy["private_share"]:
        texts["private_sequences"] = ""  # with a share, the names are those of the drawn sequences
    return texts


def _others(values: Mapping[str, str], policy: Mapping[str, Any]) -> dict[str, str]:
    """What the policy has in fields for which something else was typed, in words."""
    words = {YES: "yes", NO: "no", "": "none"}
    return {
        name: words.get(text, text)
        for name, text in _typed_texts(policy).items()
        if text != values.get(name)
    }


def preview_rows(views: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each team's view now and after the change, as rows of a table.

    Args:
        views: The server's preview for each team.
    """
    return [
        {
            "team": view["team"],
            "evaluator": view["evaluator"],
            "now": seen_text(view["now"]),
            "then": seen_text(view["then"]),
            "changes": view["now"] != view["then"],
        }
        for view in views
    ]


def seen_text(seen: Mapping[str, Any]) -> str:
    """A team's view, in a phrase.

    Args:
        seen: The server's values.
    """
    parts = []
    if seen["submission"]:
        values = ", ".join(
            f"{entry['measure']} {value_text(entry['value'])}" for entry in seen["values"]
        )
        place = f"rank {seen['rank']}" if seen["rank"] else "no rank"
        parts.append(f"{place} with {last_part(seen['submission'])} ({values})")
    parts.append(f"{counted(seen['score_count'], 'score')} in a report")
    if seen["curve_count"]:
        parts.append(counted(seen["curve_count"], "curve"))
    if seen["outcome_submission_count"]:
        number = counted(seen["outcome_submission_count"], "submission")
        parts.append(f"outcomes of {number}")
    return "; ".join(parts)


async def _page(
    visit: Visit,
    status: int,
    benchmark: Mapping[str, Any],
    form: Form,
    etag: str,
    preview: Sequence[Mapping[str, Any]] | None = None,
    answer: Mapping[str, Any] | None = None,
) -> Response:
    return await visit.render(
        "organise/policy.html",
        status,
        benchmark=benchmark,
        form=form,
        etag=etag,
        entries=describe_parameters(Policy),
        preview=preview,
        changed=None if answer is None else answer["benchmark"],
    )


ROUTES = (
    ("/organise/benchmarks/{benchmark}/policy", show, "GET"),
    ("/organise/benchmarks/{benchmark}/policy", change, "POST"),
)


# --- A policy as the texts of a form, and back

YES, NO = "true", "false"

_ENTRY = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^,]+))')
"""An entry of a list: in double quotes, or unquoted up to the next comma."""


def policy_texts(policy: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form for a policy.

    Args:
        policy: The policy from a call.
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
    # With all digits, because the form stores the shown value.
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _entry(name: str) -> str:
    """An entry of a list, in double quotes if it could not be read unquoted."""
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
    """Read the policy from a form.

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

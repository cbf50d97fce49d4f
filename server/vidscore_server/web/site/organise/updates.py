"""What the forms that change a benchmark share: who may open them, and what a refusal shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vidscore_server.web.site.forms import Form, refused_by_service
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

_REFUSALS = frozenset({"INVALID_ARGUMENT", "ABORTED", "FAILED_PRECONDITION"})
"""Codes of refusals that are about what was typed."""

_OVERTAKEN = (
    "Somebody else has changed the benchmark since you opened this page. The form shows what you "
    "typed, the page also what the benchmark now has; save it again to replace that."
)


async def organised_benchmark(visit: Visit) -> dict[str, Any]:
    """The benchmark of a form, for organisers only: others are refused before they see it.

    Raises:
        ServiceError: If the visitor is not an organiser, or there is no such benchmark.
    """
    rpc = "BenchmarkService/ListTruthRevisions"
    await visit.call(rpc, benchmark=visit.benchmark, page_size=1)
    return await visit.hosted()


def is_overtaken(error: ServiceError) -> bool:
    """Whether a change was refused because somebody else has made one."""
    return error.reason == "ETAG_DIFFERS"


def refused_update(
    values: Mapping[str, str],
    error: ServiceError,
    names: Mapping[str, str],
    others: Mapping[str, str],
) -> Form:
    """A form whose change of a benchmark was refused.

    Args:
        values: The typed values.
        error: The refusal.
        names: Fields of the form by paths of the request.
        others: What the benchmark now has in fields for which something else was typed, in words.

    Raises:
        ServiceError: The refusal, if it is not about what was typed.
    """
    if error.code not in _REFUSALS:
        raise error
    if not is_overtaken(error):
        return refused_by_service(values, error, names)
    faults = {name: (f"The benchmark now has {words}",) for name, words in others.items()}
    return Form(values, faults, message=_OVERTAKEN)

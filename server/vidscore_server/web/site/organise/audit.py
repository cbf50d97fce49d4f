"""The audit record, filtered, on pages and as CSV."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

from starlette.responses import Response, StreamingResponse

from vidscore_evaluators.machine_text import csv_lines
from vidscore_server.web.site.forms import Form, read_utc, refused_by_service
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FILTERS = ("actor", "action", "resource", "since", "until")
FIELDS: Mapping[str, str] = {name: name for name in FILTERS}
COLUMNS = ("number", "time", "actor", "action", "resource", "detail")


async def show(visit: Visit) -> Response:
    """A page of records."""
    values = {name: visit.request.query_params.get(name, "") for name in FILTERS}
    request, faults = read_filter(values)
    if faults:
        return await _page(visit, 400, Form(values, faults, message="Nothing is shown."), {})
    try:
        page = await visit.call(
            "AccessService/ListAuditRecords",
            page_size=100,
            page_token=visit.request.query_params.get("after", ""),
            **request,
        )
    except ServiceError as error:
        if error.code != "INVALID_ARGUMENT":
            raise
        return await _page(visit, 400, refused_by_service(values, error, FIELDS), {})
    return await _page(visit, 200, Form(values), page)


async def download(visit: Visit) -> Response:
    """The records as CSV, newest first."""
    values = {name: visit.request.query_params.get(name, "") for name in FILTERS}
    request, faults = read_filter(values)
    if faults:
        return await _page(visit, 400, Form(values, faults, message="Nothing is shown."), {})
    # A refusal must come before the answer begins.
    first = await visit.call("AccessService/ListAuditRecords", page_size=1000, **request)
    headers = {"Content-Disposition": 'attachment; filename="audit.csv"'}
    return StreamingResponse(
        _lines(visit, request, first), media_type="text/csv; charset=utf-8", headers=headers
    )


async def _lines(
    visit: Visit, request: Mapping[str, Any], page: Mapping[str, Any]
) -> AsyncIterator[str]:
    yield csv_lines([COLUMNS])
    yield record_lines(page["records"])
    while page["next_page_token"]:
        page = await visit.call(
            "AccessService/ListAuditRecords",
            page_size=1000,
            page_token=page["next_page_token"],
            **request,
        )
        yield record_lines(page["records"])


def record_lines(records: list[dict[str, Any]]) -> str:
    """Records as lines of CSV."""
    return csv_lines(
        [record["number"], record["time"].isoformat(), *(record[name] for name in COLUMNS[2:])]
        for record in records
    )


def read_filter(
    values: Mapping[str, str],
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """The typed filter as a request, and faults by field."""
    request: dict[str, Any] = {name: values.get(name, "").strip() for name in FILTERS[:3]}
    times, faults = read_utc(values, ("since", "until"))
    request |= {name: time for name, time in times.items() if time is not None}
    return request, faults


async def _page(visit: Visit, status: int, form: Form, page: Mapping[str, Any]) -> Response:
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers only
    return await visit.render(
        "organise/audit.html",
        status,
        form=form,
        records=page.get("records", ()),
        after=page.get("next_page_token", ""),
        filters=FILTERS,
    )


ROUTES = (
    ("/organise/audit", show, "GET"),
    ("/organise/audit.csv", download, "GET"),
)

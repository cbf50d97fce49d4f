"""Pages about the server, its clients and the wire are complete."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re

import pytest
from tests.docs.pages_of import first_cells, page, section
from tools.docs_pages import ROOT, headings
from tools.proto_comments import declarations

import vidscore_client
import vidscore_evaluators
from vidscore_client import Batching, Delivery, Keepalive, Live, Retry, Tls
from vidscore_client.errors import ERRORS_BY_CODE, ERRORS_BY_REASON
from vidscore_server.settings import setting_names

PROTOS = sorted((ROOT / "protos/vidscore/v1").glob("*.proto"))
DECLARED = [declared for path in PROTOS for declared in declarations(path)]
EXCEPTIONS = {
    name
    for name, value in vars(vidscore_client).items()
    if isinstance(value, type) and issubclass(value, vidscore_client.VidscoreError)
}


def test_every_rpc_has_a_heading() -> None:
    found = headings(page("wire-protocol.md"))
    services = [declared for declared in DECLARED if declared.keyword == "service"]
    rpcs = [rpc.name for service in services for rpc in service.members]
    assert [name for name in rpcs if found.count(name) != 1] == []


def test_every_message_has_a_heading_and_every_heading_a_message() -> None:
    names = {declared.name for declared in DECLARED if declared.keyword != "service"}
    files = {path.name for path in PROTOS}
    assert set(headings(page("wire-messages.md"))) == names | files | {"Wire messages"}


def test_settings_that_pages_name_by_their_limits_exist() -> None:
    """Words like maximum_streams that look like a setting are one."""
    limits = re.compile(r"`((?:maximum|minimum)_[a-z_]+|[a-z]+_timeout_s)`")
    found = {
        word
        for name in ("server.md", "wire-protocol.md", "command-line.md")
        for word in limits.findall(page(name))
    }
    assert found - set(setting_names()) == set()


LOGGING = {"log", "log_lasting"}
"""Functions that write a log line."""


def log_events() -> set[str]:
    """The event of every log line of the server."""
    found = set()
    for path in (ROOT / "server").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in LOGGING:
                event = node.args[1]
                if isinstance(event, ast.Constant):
                    found.add(str(event.value))
    return found


def test_the_table_of_log_lines_has_every_event() -> None:
    table = section(page("server.md"), "## Logs")
    assert set(first_cells(table)) == log_events()


def test_the_client_page_lists_every_exception_with_its_codes() -> None:
    table = section(page("python-client.md"), "## Errors")
    rows = dict(re.findall(r"^\| `(\w+Error)` \|([^|]*)\|", table, re.MULTILINE))
    assert set(rows) == EXCEPTIONS - {"VidscoreError"}
    chosen = [*ERRORS_BY_CODE.items(), *ERRORS_BY_REASON.items()]
    codes = {(kind.__name__, word) for word, kind in chosen}
    listed = {(name, code) for name, cell in rows.items() for code in re.findall(r"`(\w+)`", cell)}
    assert listed == codes


def test_the_client_page_names_every_setting_and_argument() -> None:
    text = page("python-client.md")
    fields = [
        field.name for settings in (Batching, Live, Tls) for field in dataclasses.fields(settings)
    ]
    functions = (
        vidscore_client.connect,
        vidscore_client.Client.score_stream,
        vidscore_client.ScoreStream.send_truth,
    )
    arguments = [name for function in functions for name in inspect.signature(function).parameters]
    missing = [
        name
        for name in (*fields, *arguments)
        if name != "self" and not re.search(rf"\b{name}\b", text)
    ]
    assert missing == []


@pytest.mark.parametrize(
    ("name", "heading", "settings"),
    [
        ("python-client.md", "## Back-pressure", Batching()),
        ("python-client.md", "## Submit to a hosted benchmark", Delivery()),
        ("transport-rules.md", "## Silent connections", Keepalive()),
    ],
)
def test_defaults_of_settings_equal_those_of_the_page(
    name: str, heading: str, settings: Batching | Delivery | Keepalive
) -> None:
    table = section(page(name), heading)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]*) \|", table, re.MULTILINE))
    values = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    assert rows == {field: shown_default(field, value) for field, value in values.items()}


def test_defaults_of_retries_equal_those_of_the_page() -> None:
    text = section(page("transport-rules.md"), "## Back-off")
    shown = re.findall(r"`Retry\.(\w+)`\s\(([\d.]+) s\)", text)
    assert shown == [(name, f"{getattr(Retry(), name):g}") for name, _ in shown]
    assert [name for name, _ in shown] == ["initial_s", "maximum_s", "give_up_after_s"]


def shown_default(name: str, value: float | str | Retry | None) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return f"`{value}`"
    if isinstance(value, Retry):
        return "`Retry()`"
    if isinstance(value, int) and name.endswith("_bytes"):
        return f"{value // (1 << 20)} MiB"
    return f'`"{value}"`' if isinstance(value, str) else f"{value:g}"


def test_the_library_page_lists_every_error_that_the_library_exports() -> None:
    exported = {
        name
        for name in vidscore_evaluators.__all__
        if name.endswith("Error") and name != "VidscoreError"
    }
    assert set(first_cells(section(page("library.md"), "## Errors"))) == exported

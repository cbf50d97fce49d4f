"""Reference pages that are made from the code: the library, the Python client, the HTTP API."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from tools.docs_site.doors import Entry

import vidscore
import vidscore_client
from vidscore_server.api.http.openapi import openapi
from vidscore_server.domain.access import ROLES_BY_RPC

LIBRARY = Entry("Library, name by name", "reference/library.md", "every function and class")
CLIENT = Entry("Python client, name by name", "reference/python-client.md", "the same of the SDK")
HTTP = Entry("HTTP, call by call", "reference/http.md", "every path, from the OpenAPI document")
ENTRIES = (LIBRARY, CLIENT, HTTP)
"""Pages that the first page cannot list, because they are not in the repository."""


def references() -> dict[str, str]:
    """The text of each page, by its path on the site."""
    return {
        LIBRARY.place: python_page(LIBRARY.title, vidscore, "[Library](../library.md)"),
        CLIENT.place: python_page(
            CLIENT.title, vidscore_client, "[Python client](../python-client.md)"
        ),
        HTTP.place: http_page(openapi(ROLES_BY_RPC)),
    }


def python_page(title: str, module: ModuleType, guide: str) -> str:
    """A page of all public names of a module, from their docstrings.

    Args:
        title: Its heading.
        module: The module; its `__all__` lists the names.
        guide: A link to the page that shows its use.
    """
    lines = [f"# {title}", "", f"What `import {module.__name__}` offers. {guide} shows its use."]
    for heading, names in _by_kind(module).items():
        lines += ["", f"## {heading}"]
        for name in names:
            kind = "autofunction" if heading == "Functions" else "autoclass"
            lines += ["", "```{eval-rst}", f".. {kind}:: {module.__name__}.{name}"]
            lines += ["   :members:"] if kind == "autoclass" else []
            lines += ["   :show-inheritance:"] if heading == "Errors" else []
            lines += ["```"]
    return "\n".join([*lines, ""])


def _by_kind(module: ModuleType) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if inspect.isclass(value):
            found["Errors" if issubclass(value, Exception) else "Classes"].append(name)
        elif inspect.isfunction(value):
            found["Functions"].append(name)
    return found


def http_page(document: dict[str, Any]) -> str:
    """A page of all calls of an OpenAPI document, by service."""
    lines = [f"# {HTTP.title}", "", document["info"]["description"], ""]
    lines += [
        "[HTTP](../http.md) shows a submission with curl; a server has this page as a document"
    ]
    lines += ["for programs, at `/openapi.json`.", ""]
    for tag in document["tags"]:
        lines += [f"## {tag['name']}", "", tag["description"], ""]
        for path, operations in document["paths"].items():
            if tag["name"] in operations["post"]["tags"]:
                lines += _call(path, operations)
    return "\n".join(lines)


def _call(path: str, operations: dict[str, Any]) -> Iterable[str]:
    call = operations["post"]
    yield from (f"### {path.rpartition('/')[2]}", "", "```text")
    yield from (f"{verb.upper()} {path}" for verb in operations)
    yield from ("```", "", _links_kept(call["description"]), "")
    yield f"- Request: {_bodies(call['requestBody']['content'])}"
    yield f"- Response: {_bodies(call['responses']['200']['content'])}"
    if "get" in operations:
        names = [f"`{one['name']}`" for one in operations["get"]["parameters"]]
        yield f"- GET takes {', '.join(names) or 'no parameters'}."
    yield ""


def _bodies(content: dict[str, Any]) -> str:
    """The message of a body, with a link, and its media types."""
    [message] = {
        match[1]
        for body in content.values()
        if (match := re.search(r"vidscore\.v1\.(\w+)$", body["schema"].get("$ref", "")))
    } or {""}
    kinds = ", ".join(f"`{kind}`" for kind in content)
    link = f"[{message}](../wire-messages.md#{message.lower()})" if message else "empty"
    return f"{link}, as {kinds}"


def _links_kept(text: str) -> str:
    """A comment of a proto as Markdown, with angle brackets escaped."""
    return text.replace("<", r"\<")

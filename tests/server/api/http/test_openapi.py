"""The OpenAPI document describes everything that is served, and correctly."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.rpc.error_details_pb2 import ErrorInfo
from tests.server.api.http.asking import JSON, Caller
from tests.server.web.site.browsing import Browsing, browsing
from tools import generate_protos

from vidscore_server.api.http.errors import HTTP_STATUS
from vidscore_server.api.http.methods import READ_BY_GET, RESUMED
from vidscore_server.api.http.openapi import ERROR_EXAMPLE, REQUEST_EXAMPLES, comments, openapi
from vidscore_server.api.http.protojson import read_value
from vidscore_server.api.local_calls import request_class
from vidscore_server.api.message_sizes import method_descriptor
from vidscore_server.domain.access import ROLES_BY_RPC

DOCUMENT = openapi(ROLES_BY_RPC)
SCHEMAS = DOCUMENT["components"]["schemas"]
OPERATIONS = [
    (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
]
KEYWORDS = {
    "$ref",
    "additionalProperties",
    "anyOf",
    "contentEncoding",
    "contentMediaType",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maximum",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
}
"""Keywords of JSON Schema (2020-12) that these schemas use."""


async def test_it_is_served_to_everyone_with_every_method(site: Browsing) -> None:
    nobody = Caller(site.nobody.base)
    page = await nobody.ask("GET", "/openapi.json")
    assert (page.status, page.headers["content-type"]) == (200, JSON)
    assert "connection" not in page.headers  # The connection stays open for the next request.
    served = json.loads(page.body)
    assert set(served["paths"]) == set(ROLES_BY_RPC)
    assert (await nobody.ask("HEAD", "/openapi.json")).status == 200
    assert (await nobody.ask("OPTIONS", "/openapi.json")).headers["allow"] == "OPTIONS, GET, HEAD"
    assert (await nobody.ask("POST", "/openapi.json")).status == 405


async def test_a_server_without_reflection_does_not_serve_the_document(tmp_path: Any) -> None:
    async with browsing(tmp_path, reflection=False) as site:
        assert (await Caller(site.nobody.base).ask("GET", "/openapi.json")).status == 404


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the document."""
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from parts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from parts(inner)


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    inner += [schema[key] for key in ("items", "additionalProperties") if schema.get(key)]
    for entry in inner:
        yield from schemas(entry)


def test_every_reference_resolves() -> None:
    references = {part["$ref"] for part in parts(DOCUMENT) if "$ref" in part}
    assert len(references) > 100
    for reference in references:
        found: Any = DOCUMENT
        for name in reference.removeprefix("#/").split("/"):
            found = found[name]


def test_schemas_have_known_keywords_and_names() -> None:
    known_types = {"array", "boolean", "integer", "number", "object", "string"}
    for name, whole in SCHEMAS.items():
        assert re.fullmatch(r"[a-zA-Z0-9._-]+", name)
        for schema in schemas(whole):
            assert set(schema) <= KEYWORDS, name
            kinds = schema.get("type", [])
            assert set([kinds] if isinstance(kinds, str) else kinds) <= known_types
            re.compile(schema.get("pattern", ""))


def test_operations_have_all_that_openapi_requires() -> None:
    names = [operation["operationId"] for _, _, operation in OPERATIONS]
    assert len(set(names)) == len(names) == len(ROLES_BY_RPC) + len(READ_BY_GET)
    tags = {tag["name"] for tag in DOCUMENT["tags"]}
    for path, method, operation in OPERATIONS:
        assert set(operation["tags"]) <= tags
        assert operation["responses"]["200"]["description"]
        assert "default" in operation["responses"]
        assert ("requestBody" in operation) == (method == "post"), path
        for security in operation["security"]:
            assert set(security) <= set(DOCUMENT["components"]["securitySchemes"])
        for parameter in operation["parameters"]:
            assert {"name", "in", "schema"} <= set(parameter)


def test_everything_that_we_define_is_described() -> None:
    ours = [(name, schema) for name, schema in SCHEMAS.items() if name.startswith("vidscore.")]
    missing = [
        f"{name}.{field}"
        for name, schema in ours
        for field, inner in schema.get("properties", {}).items()
        if not inner.get("description")
    ]
    missing += [name for name, schema in ours if not schema.get("description")]
    described = [operation["summary"] for _, _, operation in OPERATIONS]
    assert (missing, "" in described) == ([], False)


def test_texts_use_the_json_names_of_fields() -> None:
    text = SCHEMAS["vidscore.v1.ListScoresRequest"]["properties"]["pageToken"]["description"]
    assert text == "`nextPageToken` of the previous page; empty for the first."


def test_the_comments_are_those_of_the_protos() -> None:
    """If this fails, run `make proto`."""
    assert generate_protos.COMMENTS.read_text("utf-8") == generate_protos.comments()
    assert comments()["AppendResponse.next_offset"].startswith("Offset of the next frame")


@pytest.mark.parametrize("rpc", REQUEST_EXAMPLES)
def test_an_example_is_a_valid_request(rpc: str) -> None:
    read_value(dict(REQUEST_EXAMPLES[rpc]), request_class(rpc)())
    shown = DOCUMENT["paths"][rpc]["post"]["requestBody"]["content"][JSON]["example"]
    assert shown == REQUEST_EXAMPLES[rpc]


def test_the_example_of_an_error_has_the_bytes_of_its_text() -> None:
    [detail] = ERROR_EXAMPLE["details"]
    value = detail["value"] + "=" * (-len(detail["value"]) % 4)
    info = ErrorInfo.FromString(base64.b64decode(value))
    assert {"reason": info.reason, "domain": info.domain} == detail["debug"]


def test_streams_that_can_resume_have_the_fields_for_it() -> None:
    for rpc, resumed in RESUMED.items():
        method = method_descriptor(rpc)
        assert resumed.field in method.input_type.fields_by_name
        kind: Any = method.output_type
        *above, last = resumed.told.split(".")
        for name in above:
            kind = kind.fields_by_name[name].message_type
        told = kind.fields_by_name[last]
        assert told.cpp_type == method.input_type.fields_by_name[resumed.field].cpp_type


def test_every_code_has_the_http_status_of_connect() -> None:
    """The table of the Connect protocol, copied by hand; OK is not an error."""
    assert {code.name.lower(): status for code, status in HTTP_STATUS.items()} == {
        "cancelled": 499,
        "unknown": 500,
        "invalid_argument": 400,
        "deadline_exceeded": 504,
        "not_found": 404,
        "already_exists": 409,
        "permission_denied": 403,
        "resource_exhausted": 429,
        "failed_precondition": 400,
        "aborted": 409,
        "out_of_range": 400,
        "unimplemented": 501,
        "internal": 500,
        "unavailable": 503,
        "data_loss": 500,
        "unauthenticated": 401,
    }

"""The OpenAPI document of the HTTP API, from the protos' descriptors and comments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

import orjson
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, MethodDescriptor

from vidscore_server.api.http.errors import CODE_WORDS
from vidscore_server.api.http.methods import (
    EVENTS,
    JSON,
    LINES,
    PROTO,
    READ_BY_GET,
    RESUMED,
    request_types,
    response_types,
)
from vidscore_server.api.message_sizes import method_descriptor
from vidscore_server.domain.access import ROLES_BY_RPC
from vidscore_server.version import server_version

COMMENTS_FILE = "proto_comments.json"
"""Comments of the protos by name, beside this module; `make proto` writes it."""

PACKAGE = "vidscore.v1."

_ABOUT = (
    "Every method of the gRPC service over HTTP, with the same tokens, roles, limits and errors. "
    "Messages are JSON by the rules of ProtoJSON: 64-bit integers are strings, fields that are not "
    "there have their default, and fields are read by either of their names. A call takes no "
    "longer than the header Connect-Timeout-Ms says."
)
_ANYONE = "anyone on the server's machine, and elsewhere for callers with a token"

_INTEGERS: Mapping[int, dict[str, Any]] = {
    FieldDescriptor.CPPTYPE_INT32: {
        "type": "integer",
        "format": "int32",
        "minimum": -(1 << 31),
        "maximum": (1 << 31) - 1,
    },
    FieldDescriptor.CPPTYPE_UINT32: {"type": "integer", "minimum": 0, "maximum": (1 << 32) - 1},
    FieldDescriptor.CPPTYPE_INT64: {
        "type": ["string", "integer"],
        "format": "int64",
        "pattern": "^(0|-?[1-9][0-9]{0,17})$",
        "minimum": -(1 << 63),
        "maximum": (1 << 63) - 1,
    },
    FieldDescriptor.CPPTYPE_UINT64: {
        "type": ["string", "integer"],
        "pattern": "^(0|[1-9][0-9]{0,18})$",
        "minimum": 0,
        "maximum": (1 << 64) - 1,
    },
}
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["NaN", "Infinity", "-Infinity"]}]}
_SCALARS: Mapping[int, dict[str, Any]] = {
    **_INTEGERS,
    FieldDescriptor.CPPTYPE_DOUBLE: _NUMBER,
    FieldDescriptor.CPPTYPE_FLOAT: _NUMBER,
    FieldDescriptor.CPPTYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.CPPTYPE_STRING: {"type": "string"},
}
_WELL_KNOWN: Mapping[str, dict[str, Any]] = {
    "google.protobuf.Any": {
        "type": "object",
        "properties": {"@type": {"type": "string"}},
        "required": ["@type"],
    },
    "google.protobuf.Duration": {
        "type": "string",
        "pattern": r"^-?[0-9]{1,9}(\.[0-9]{1,9})?s$",
        "examples": ["90s"],
    },
    "google.protobuf.Empty": {"type": "object", "additionalProperties": False},
    "google.protobuf.FieldMask": {"type": "string", "examples": ["title,policy.visibility"]},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
}


_BENCHMARK = "benchmarks/sky"
_SUBMISSION = f"{_BENCHMARK}/submissions/first"

_FRAMES = {
    "sequences": [{"sequence": "1"}],
    "frameSequences": [0, 0],
    "frameNumbers": ["1", "2"],
    "frameObjectCounts": [2, 0],
    "geometry": "GEOMETRY_POINT",
    "coordinates": [100, 100, 204, 200],
}

_V1 = "/vidscore.v1."
REQUEST_EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    f"{_V1}BenchmarkService/CreateBenchmark": {
        "benchmarkId": "sky",
        "benchmark": {
            "truthGeometry": "GEOMETRY_POINT",
            "detectionGeometry": "GEOMETRY_POINT",
            "specification": {"evaluators": [{"name": "spotgeo"}]},
        },
    },
    f"{_V1}BenchmarkService/GetLeaderboard": {"benchmark": _BENCHMARK},
    f"{_V1}SubmissionService/CreateSubmission": {
        "benchmark": _BENCHMARK,
        "submissionId": "first",
        "title": "First try",
    },
    f"{_V1}SubmissionService/OpenStream": {"submission": _SUBMISSION},
    f"{_V1}SubmissionService/AppendBatch": {
        "stream": f"{_SUBMISSION}/streams/default",
        "epoch": "1",
        "offset": "0",
        "detections": _FRAMES,
    },
    f"{_V1}SubmissionService/CheckDetections": {"benchmark": _BENCHMARK, "detections": _FRAMES},
    f"{_V1}SubmissionService/SealSubmission": {"name": _SUBMISSION, "expectedFrameCount": "2"},
    f"{_V1}SubmissionService/WatchSubmission": {"name": _SUBMISSION},
    f"{_V1}SubmissionService/ListScores": {"submission": _SUBMISSION},
}
"""Requests by the full name of their method."""

ERROR_EXAMPLE: Mapping[str, Any] = {
    "code": "not_found",
    "message": f"there is no submission {_SUBMISSION}",
    "details": [
        {
            "type": "google.rpc.ErrorInfo",
            "value": "CglOT1RfRk9VTkQSCHZpZHNjb3Jl",
            "debug": {"reason": "NOT_FOUND", "domain": "vidscore"},
        }
    ],
}
"""An error of Connect; its `value` has the bytes of the message in `debug`."""


def openapi(rpcs: Iterable[str]) -> dict[str, Any]:
    """The document.

    Args:
        rpcs: Full names of the methods that are served.
    """
    methods = {rpc: method_descriptor(rpc) for rpc in rpcs}
    schemas = _Schemas()
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "vidscore",
            "version": server_version(),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": _tags(methods.values()),
        "paths": {rpc: _path(rpc, method, schemas) for rpc, method in methods.items()},
        "components": {
            "schemas": {"Error": _ERROR, **schemas.made},
            "responses": {"Error": _ERROR_RESPONSE},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The secret of a token, which an organiser creates.",
                }
            },
        },
    }


@cache
def comments() -> Mapping[str, str]:
    """Comments of the protos, by the name of their element without its package."""
    text = resources.files(__package__).joinpath(COMMENTS_FILE).read_bytes()
    found: dict[str, str] = orjson.loads(text)
    return found


_ERROR: dict[str, Any] = {
    "type": "object",
    "description": "What was wrong, in the form of the Connect protocol.",
    "properties": {
        "code": {"type": "string", "enum": sorted(CODE_WORDS.values())},
        "message": {"type": "string", "description": "One or two sentences for people."},
        "details": {
            "type": "array",
            "description": "google.rpc.ErrorInfo, BadRequest and RetryInfo.",
            "items": {
                "type": "object",
                "properties": {
                    "type": {"type": "string", "description": "Name of the message."},
                    "value": {"type": "string", "description": "Its bytes, in base64."},
                    "debug": {"type": "object", "description": "The same as JSON."},
                },
                "required": ["type", "value"],
            },
        },
    },
    "required": ["code", "message"],
    "examples": [ERROR_EXAMPLE],
}
_ERROR_RESPONSE = {
    "description": "The call was refused, or failed.",
    "content": {JSON: {"schema": {"$ref": "#/components/schemas/Error"}}},
}


def _tags(methods: Iterable[MethodDescriptor]) -> list[dict[str, str]]:
    services = dict.fromkeys(method.containing_service for method in methods)
    return [
        {"name": service.name, "description": comments().get(service.name, "")}
        for service in services
    ]


def _path(rpc: str, method: MethodDescriptor, schemas: _Schemas) -> dict[str, Any]:
    found = {"post": _operation(rpc, method, schemas)}
    found["post"]["requestBody"] = _body(rpc, method, schemas)
    if rpc in READ_BY_GET:
        found["get"] = _operation(rpc, method, schemas)
        found["get"]["operationId"] += "_get"
        found["get"]["parameters"] += [_parameter(field) for field in method.input_type.fields]
    return found


def _operation(rpc: str, method: MethodDescriptor, schemas: _Schemas) -> dict[str, Any]:
    service = method.containing_service.name
    comment = _in_json_names(comments().get(f"{service}.{method.name}", method.name))
    roles = ROLES_BY_RPC[rpc]
    named = ", ".join(sorted(f"{role}s" for role in roles if role))
    may = _ANYONE if None in roles else named
    parameters = [_LAST_EVENT] if rpc in RESUMED else []
    return {
        "operationId": f"{service}_{method.name}",
        "tags": [service],
        "summary": re.split(r"(?<=[.:;])\s", comment)[0].rstrip(".:;"),
        "description": f"{comment}\n\nFor {may}.",
        "parameters": parameters,
        "security": [{"token": []}, {}] if None in roles else [{"token": []}],
        "responses": {
            "200": {"description": "Done.", "content": _contents(method, schemas)},
            **(
                {"204": {"description": "There is nothing more."}}
                if method.server_streaming
                else {}
            ),
            "default": {"$ref": "#/components/responses/Error"},
        },
    }


_LAST_EVENT = {
    "name": "Last-Event-ID",
    "in": "header",
    "description": "Id of the last event that was received: the stream continues after it.",
    "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
}


def _parameter(field: FieldDescriptor) -> dict[str, Any]:
    return {
        "name": field.json_name,
        "in": "query",
        "description": _comment_of(field),
        "schema": _SCALARS[field.cpp_type],
    }


def _body(rpc: str, method: MethodDescriptor, schemas: _Schemas) -> dict[str, Any]:
    content = {kind: _content(kind, method.input_type, schemas) for kind in request_types(method)}
    if rpc in REQUEST_EXAMPLES:
        content[JSON]["example"] = REQUEST_EXAMPLES[rpc]
    found: dict[str, Any] = {"required": True, "content": content}
    if method.client_streaming:
        found["description"] = f"As {LINES} one message per line, as {JSON} a single one."
    return found


def _contents(method: MethodDescriptor, schemas: _Schemas) -> dict[str, Any]:
    return {kind: _content(kind, method.output_type, schemas) for kind in response_types(method)}


def _content(kind: str, message: Descriptor, schemas: _Schemas) -> dict[str, Any]:
    """The content of a body type: the schema of a message, or of each of its lines or events."""
    if kind == PROTO:
        about = f"The bytes of a {message.full_name}."
        return {"schema": {"description": about, "contentMediaType": PROTO}}
    if kind == EVENTS:
        about = (
            f"Events `response` with a {message.full_name} as JSON, at the end an event `end`, or "
            "`failure` with an error."
        )
        return {"schema": {"type": "string", "description": about}}
    if kind == LINES:
        about = f"Lines, each with a {message.full_name} as JSON."
        return {"schema": {"description": about, "$ref": schemas.of(message)}}
    return {"schema": {"$ref": schemas.of(message)}}


class _Schemas:
    """Schemas of the requested messages, and of the messages in them.

    Attributes:
        made: The schemas by the full names of messages and enums.
    """

    def __init__(self) -> None:
        self.made: dict[str, dict[str, Any]] = {}

    def of(self, kind: Descriptor | EnumDescriptor) -> str:
        """Reference to the schema of a message or an enum."""
        name = str(kind.full_name)
        if name not in self.made:
            self.made[name] = {}  # a message may contain itself
            self.made[name] = self._enum(kind) if _is_enum(kind) else self._message(kind)
        return f"#/components/schemas/{name}"

    def _enum(self, kind: Any) -> dict[str, Any]:
        values = [value.name for value in kind.values]
        told = [f"`{name}`: {_comment(kind, name)}" for name in values if _comment(kind, name)]
        description = "\n".join([comments().get(_own_name(kind), ""), "", *told]).strip()
        return _described({"type": "string", "enum": values}, description)

    def _message(self, kind: Any) -> dict[str, Any]:
        if kind.full_name in _WELL_KNOWN:
            return dict(_WELL_KNOWN[kind.full_name])
        description = [comments().get(_own_name(kind), "")]
        for oneof in kind.oneofs:
            names = [f"`{field.json_name}`" for field in oneof.fields]
            if len(names) > 1:
                description.append(f"At most one of {', '.join(names)} is there.")
        found = {
            "type": "object",
            "properties": {field.json_name: self._field(field) for field in kind.fields},
            "additionalProperties": False,
        }
        return _described(found, "\n\n".join(filter(None, description)))

    def _field(self, field: FieldDescriptor) -> dict[str, Any]:
        kind = field.message_type
        found: dict[str, Any]
        if kind is not None and kind.GetOptions().map_entry:
            inner = self._one(kind.fields_by_name["value"])
            found = {"type": "object", "additionalProperties": inner}
        elif field.is_repeated:
            found = {"type": "array", "items": self._one(field)}
        else:
            found = self._one(field)
        return _described(found, _comment_of(field))

    def _one(self, field: FieldDescriptor) -> dict[str, Any]:
        kind = field.message_type or field.enum_type
        if kind is not None:
            return {"$ref": self.of(kind)}
        if field.type == FieldDescriptor.TYPE_BYTES:
            return {"type": "string", "contentEncoding": "base64"}
        return dict(_SCALARS[field.cpp_type])


def _is_enum(kind: Descriptor | EnumDescriptor) -> bool:
    return isinstance(kind, EnumDescriptor)


def _described(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"description": description, **schema} if description else schema


def _own_name(kind: Descriptor | EnumDescriptor) -> str:
    return str(kind.full_name).removeprefix(PACKAGE)


def _comment(kind: Any, member: str) -> str:
    return _in_json_names(comments().get(f"{_own_name(kind)}.{member}", ""))


def _comment_of(field: FieldDescriptor) -> str:
    return _comment(field.containing_type, field.name)


def _in_json_names(comment: str) -> str:
    """A comment with quoted field names replaced by their JSON names."""
    return re.sub(
        r"`([a-z]+(?:_[a-z0-9]+)+)`",
        lambda quoted: "`" + re.sub(r"_([a-z0-9])", lambda part: part[1].upper(), quoted[1]) + "`",
        comment,
    )

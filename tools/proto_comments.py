"""Read the .proto files as documentation: services, messages and enums with their comments.

This does not parse the whole language, only the style of this repository: `buf format` and the
rule that everything has a comment make it regular. A line that cannot be read is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_BLOCK = re.compile(r"(service|message|enum) (\w+) \{(\})?$")
_RPC = re.compile(r"rpc (\w+)\((stream )?(\S+)\) returns \((stream )?(\S+)\)(;| \{)$")
_FIELD = re.compile(r"((?:repeated |optional )?(?:map<[^>]+>|[\w.]+)) (\w+) = (\d+)(?: \[.*\])?;$")
_VALUE = re.compile(r"(\w+) = (\d+);$")
_ONEOF = re.compile(r"oneof (\w+) \{$")
_SKIPPED = ("syntax ", "package ", "import ", "option ", "reserved ")


@dataclass(frozen=True)
class Member:
    """A field, an enum's value, or an RPC.

    Attributes:
        name: Its name.
        kind: Type of a field; number of a value; ``Request -> Response`` of an RPC.
        comment: Its comment, in one line.
        oneof: Name of its oneof, or empty.
    """

    name: str
    kind: str
    comment: str
    oneof: str = ""


@dataclass
class Declaration:
    """A service, message or enum.

    Attributes:
        keyword: ``service``, ``message`` or ``enum``.
        name: Its name.
        comment: Its comment; empty lines separate paragraphs.
        members: Its fields, values or RPCs.
    """

    keyword: str
    name: str
    comment: str
    members: list[Member] = field(default_factory=list)


def declarations(path: Path) -> list[Declaration]:
    """Everything that a file declares, in order.

    Raises:
        ValueError: If a line cannot be read.
    """
    found: list[Declaration] = []
    comment: list[str] = []
    inside: list[str] = []
    for number, raw in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        line = raw.strip()
        if line.startswith("//"):
            if "buf:lint:" not in line:
                comment.append(line.removeprefix("//").strip())
            continue
        if inside[-1:] == ["rpc"]:
            # The body of an RPC contains only options, which are not documented.
            inside = inside[:-1] if line == "}" else inside
        elif block := _BLOCK.match(line):
            inside += [] if block[3] else [block[1]]
            found.append(Declaration(block[1], block[2], "\n".join(comment).strip()))
        elif oneof := _ONEOF.match(line):
            inside.append(oneof[1])
        elif line == "}":
            inside.pop()
        elif line and not line.startswith(_SKIPPED):
            member = _member(line, " ".join(comment), inside)
            if member is None:
                raise ValueError(f"{path}:{number}: cannot be read as documentation: {line}")
            found[-1].members.append(member)
            if line.startswith("rpc ") and line.endswith("{"):
                inside.append("rpc")
        comment = []
    return found


def _member(line: str, comment: str, inside: list[str]) -> Member | None:
    if rpc := _RPC.match(line):
        request = f"{rpc[2] or ''}{rpc[3]}"
        return Member(rpc[1], f"{request} -> {rpc[4] or ''}{rpc[5]}", comment)
    if inside[:1] == ["enum"] and (value := _VALUE.match(line)):
        return Member(value[1], value[2], comment)
    if entry := _FIELD.match(line):
        oneof = inside[-1] if len(inside) > 1 else ""
        return Member(entry[2], entry[1], comment, oneof)
    return None

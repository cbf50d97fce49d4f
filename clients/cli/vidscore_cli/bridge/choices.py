"""Sources of `vidscore bridge`: one from options, or several from a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from vidscore_cli.bridge.access import ACCESS_KEYS, BrokerAccess, checked_access
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds import schema_of_name
from vidscore_evaluators.feeds.doubts import Doubt
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.formats.manifest import parse_toml
from vidscore_evaluators.names import name_advice

SPOOL_MEBIBYTES = 64
"""Maximum size of a spool file, if none is given."""

_PAIR = 2


class SourceChoice(Struct, frozen=True):
    """A source, and how to read it.

    Attributes:
        url: Its address.
        schema: Name of the schema of its messages.
        name: Name of its stream in the submission.
        frames: Sequences and numbers of its frames.
        access: Access to its broker, if it has one.
        topics: Topics of a recording to read; empty for those with the schema's messages.
        accept: Doubts that are accepted, by name.
        spool: File for messages that cannot wait at their source; empty for none.
        spool_mebibytes: Maximum size of that file.
    """

    url: str
    schema: str
    name: str
    frames: FrameMap
    access: BrokerAccess
    topics: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    spool: str = ""
    spool_mebibytes: int = SPOOL_MEBIBYTES


_KEYS: Mapping[str, tuple[type, ...]] = {
    "url": (str,),
    "schema": (str,),
    "name": (str,),
    "sequences": (dict,),
    "rate_hz": (int, float),
    "start_s": (int, float),
    "first_frame": (int,),
    "size": (list,),
    "topics": (list,),
    "accept": (list,),
    "spool": (str,),
    "spool_mebibytes": (int,),
    **dict.fromkeys(ACCESS_KEYS, (str,)),
}
_WORDS = {dict: "a table", list: "an array", str: "a string", int: "an integer", float: "a number"}


def read_sources(path: Path) -> list[SourceChoice]:
    """The sources of a TOML file.

    Raises:
        InputError: With every fault of the file.
        OSError: If it cannot be read.
    """
    document = parse_toml(path.read_bytes(), str(path), "a file of sources")
    tables = document.get("sources")
    faults = [_fault(key, f"the key {key}", "sources") for key in document if key != "sources"]
    if not isinstance(tables, list) or not tables:
        faults.append(_fault("sources", "no source", "a table [[sources]] for each"))
        tables = []
    choices = [_choice(table, f"sources[{row}]", row, faults) for row, table in enumerate(tables)]
    names = [choice.name for choice in choices]
    faults += [
        _fault(f"sources[{row}].name", f"{name} again", "a unique name")
        for row, name in enumerate(names)
        if name in names[:row]
    ]
    faults += _shared_spools(choices)
    if faults:
        raise InputError(faults)
    return choices


def _shared_spools(choices: Sequence[SourceChoice]) -> Iterator[Fault]:
    """Faults of sources that share a spool file."""
    owners: dict[str, int] = {}
    for row, choice in enumerate(choices):
        is_file = choice.spool and "\0" not in choice.spool
        owner = owners.setdefault(os.path.realpath(choice.spool), row) if is_file else row
        if owner != row:
            found = f"{choice.spool}, which sources[{owner}] uses"
            yield _fault(f"sources[{row}].spool", found, "a separate file")


def _choice(table: object, place: str, row: int, faults: list[Fault]) -> SourceChoice:
    entry = table if isinstance(table, dict) else {}
    for key, value in entry.items():
        if key not in _KEYS:
            faults.append(_fault(f"{place}.{key}", "an unknown key", _known(key)))
        elif type(value) not in _KEYS[key]:
            faults.append(_fault(f"{place}.{key}", repr(value)[:80], _WORDS[_KEYS[key][-1]]))
    needed = [key for key in ("url", "schema") if key not in entry]
    faults += [_fault(f"{place}.{key}", "nothing", "one") for key in needed]
    good = {key: value for key, value in entry.items() if type(value) in _KEYS.get(key, ())}
    return checked_choice({"name": f"source-{row + 1}", **good}, place, faults)


def checked_choice(given: Mapping[str, Any], place: str, faults: list[Fault]) -> SourceChoice:
    """A choice from values of the right types; adds their faults.

    Args:
        given: Values, by key of the file.
        place: Their place in the file.
        faults: Receives the faults.
    """
    prefix = f"{place}." if place else ""
    try:
        schema_of_name(given.get("schema", "jsonl"))
    except InputError as error:
        faults += [_fault(f"{prefix}schema", f.found, f.expected, f.advice) for f in error.faults]
    for name in given.get("accept", ()):
        if name not in list(Doubt):
            advice = name_advice(str(name), [doubt.value for doubt in Doubt])
            faults.append(_fault(f"{prefix}accept", repr(name), "the name of a doubt", advice))
    size = given.get("size")
    if size is not None and not _is_size(size):
        faults.append(_fault(f"{prefix}size", repr(size)[:80], "[width, height] in pixels"))
        size = None
    if not 0 < given.get("rate_hz", 1) < math.inf:
        faults.append(_fault(f"{prefix}rate_hz", str(given["rate_hz"]), "more than 0"))
    if "\0" in given.get("spool", ""):
        faults.append(_fault(f"{prefix}spool", repr(given["spool"])[:80], "the name of a file"))
    if not given.get("spool_mebibytes", 1) > 0:
        found = str(given["spool_mebibytes"])
        faults.append(_fault(f"{prefix}spool_mebibytes", found, "1 or more"))
    sequences = given.get("sequences", {})
    for key, value in sequences.items():
        if not isinstance(value, str) or not value:
            place_of_key = f"{prefix}sequences.{key}"
            faults.append(_fault(place_of_key, repr(value)[:80], "the name of a sequence"))
    frames = FrameMap(
        sequences=sequences,
        rate_hz=given.get("rate_hz"),
        start_s=float(given.get("start_s", 0.0)),
        first_frame=given.get("first_frame", 0),
        size_px=None if size is None else (float(size[0]), float(size[1])),
    )
    access = checked_access(given, prefix, faults)
    own = set(SourceChoice.__struct_fields__) - {"frames", "access"}
    rest: dict[str, Any] = {"url": "", "schema": "jsonl"}
    rest |= {key: value for key, value in given.items() if key in own}
    for key in ("topics", "accept"):
        rest[key] = tuple(map(str, given.get(key, ())))
    return SourceChoice(frames=frames, access=access, **rest)


def _is_size(size: Sequence[object]) -> bool:
    return len(size) == _PAIR and all(type(n) in (int, float) and n > 0 for n in size)  # type: ignore[operator]


def _known(key: str) -> str:
    advice = name_advice(key, list(_KEYS))
    return f"one of {', '.join(_KEYS)} ({advice})" if advice else f"one of {', '.join(_KEYS)}"


def _fault(field: str, found: str, expected: str, advice: str | None = None) -> Fault:
    return Fault(found, expected, field=field, advice=advice)

"""The tables of the documentation that come from the code, by name, as Markdown.

A page marks the place of a table with ``<!-- generated: parameters spotgeo -->`` and
``<!-- end of generated -->``. `tools.refresh_docs` fills it in.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from tools.campaign_record import campaigns_table, figures_table, sum_of_faults
from tools.clients import CLIENTS, LANGUAGES
from tools.docs_command_tables import (
    command_sections,
    commands,
    connection_options,
    options,
    shared_options,
)
from tools.docs_pages import code, table
from tools.docs_promises import promises_table
from tools.proto_comments import Declaration, declarations

import vidscore_evaluators
import vidscore_server
from vidscore_evaluators.annotations import ARITIES
from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.evaluator import Direction, Measure, Needs
from vidscore_evaluators.formats import FORMATS
from vidscore_evaluators.parameters import Bounds, ParameterDescription, describe_parameters
from vidscore_evaluators.presets import Preset, find_preset, is_built_in, preset_names
from vidscore_evaluators.registry import EvaluatorClass, evaluator_class, evaluator_names
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_server.application import SERVICES
from vidscore_server.domain.access import OF_SUBMISSIONS, OPEN_RPCS, PUBLIC_RPCS, ROLES_BY_RPC
from vidscore_server.domain.policy import Policy
from vidscore_server.hosted_services import HOSTED_SERVICES
from vidscore_server.settings import ENVIRONMENT_PREFIX, Settings
from vidscore_server.status import code_of
from vidscore_server.store.records import Role

PRESET_PAGES = Path(__file__).resolve().parent.parent / "docs/presets"
PROTOS = Path(__file__).resolve().parent.parent / "protos/vidscore/v1"
MESSAGES_PAGE = "wire-messages.md"

NOT_IMPORTED = (".__main__", ".env", ".kernels.loops")
"""Modules that run code when imported, and the compiled library, which looks like a module."""


# --- evaluators ------------------------------------------------------------------------------


def evaluators(folder: str = "") -> str:
    """Every built-in evaluator with a link to its page in `folder`."""
    rows = [
        [f"[`{name}`]({folder}{name}.md)", found.title, _shapes(found, found.needs.truth_arities)]
        for name in evaluator_names()
        for found in (evaluator_class(name),)
    ]
    return table(("evaluator", "what it scores", "shapes"), rows)


def facts(name: str) -> str:
    """Properties and needs of an evaluator."""
    found = evaluator_class(name)
    ranking = ", then ".join(code(measure) for measure in found.ranking)
    rows = [
        ["version", found.version],
        ["task", found.task.value],
        ["shapes of the truth", _shapes(found, found.needs.truth_arities)],
        ["shapes of detections", _shapes(found, found.needs.detection_arities)],
        ["confidences", _use_of_confidences(found.needs)],
        ["track ids", "needed" if found.needs.tracks else "not needed"],
        ["rank order of systems", ranking],
    ]
    return table((code(name), ""), rows)


def _use_of_confidences(needs: Needs) -> str:
    if not needs.confidences:
        return "not used"
    return "used, from 0 to 1" if needs.unit_confidences else "used"


def parameters(name: str) -> str:
    """Parameters of an evaluator."""
    rows = [
        [code(entry.name), code(_shown(entry.default)), _allowed(entry), _meaning(entry)]
        for entry in describe_parameters(evaluator_class(name).Parameters)
    ]
    return table(("parameter", "default", "allowed", "meaning"), rows)


def measures(name: str) -> str:
    """Measures of an evaluator."""
    rows = [
        [
            code(entry.name),
            entry.unit,
            _range(entry),
            "-" if entry.direction is Direction.NONE else str(entry.direction),
            str(entry.averaging),
            entry.description,
        ]
        for entry in evaluator_class(name).measures
    ]
    return table(("measure", "unit", "range", "better", "over frames", "meaning"), rows)


def _shapes(evaluator: EvaluatorClass, arities: Sequence[int]) -> str:
    words = {2: "points", 4: "upright boxes", 8: "four corners"}
    if set(words) != set(ARITIES):
        raise ValueError("a shape has no word here")
    parameters = describe_parameters(evaluator.Parameters)
    masked = any("mask" in entry.choices for entry in parameters if entry.name == "base")
    return ", ".join(words[arity] for arity in sorted(arities)) + ", masks" * masked


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_shown, value))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value)


def _allowed(entry: ParameterDescription) -> str:
    if entry.choices:
        return ", ".join(code(choice) for choice in entry.choices)
    return " ".join([entry.type_name, _limits(entry.bounds)]).strip()


def _limits(bounds: Bounds) -> str:
    signs = (
        (">", bounds.exclusive_minimum),
        ("≥", bounds.minimum),
        ("<", bounds.exclusive_maximum),
        ("≤", bounds.maximum),
    )
    return ", ".join(f"{sign} {limit:,.12g}" for sign, limit in signs if limit is not None)


def _meaning(entry: ParameterDescription) -> str:
    unit = f" In {entry.bounds.unit}." if entry.bounds.unit else ""
    return entry.bounds.description + unit


def _range(measure: Measure) -> str:
    least, greatest = measure.minimum, measure.maximum
    if least is None and greatest is None:
        return "any"
    if greatest is None:
        return f"≥ {least:g}"
    if least is None:
        useful = "" if measure.of_nothing is None else f", useful from {measure.of_nothing:g}"
        return f"≤ {greatest:g}{useful}"
    return f"{least:g} to {greatest:g}"


# --- presets ---------------------------------------------------------------------------------


def presets(*names: str) -> str:
    """Details of some presets; without names, every built-in preset with a link to its page."""
    if names:
        return "\n\n".join(_preset(find_preset(name)) for name in names)
    own = [find_preset(name) for name in preset_names() if is_built_in(name)]
    pages = pages_by_preset()
    rows = [
        [
            f"[`{preset.name}`]({pages[preset.name][0]})" if preset.name in pages else preset.name,
            preset.benchmark,
            preset.title,
            preset.scorer,
        ]
        for preset in sorted(own, key=lambda preset: (preset.benchmark.casefold(), preset.name))
    ]
    return table(("preset", "benchmark", "what it scores", "official scorer"), rows)


def _preset(preset: Preset) -> str:
    rows = [
        ["version", preset.version],
        ["official scorer", preset.scorer],
        ["files", code(preset.format) if preset.format else "recognised by content"],
        ["labels", ", ".join(map(code, preset.labels)) if preset.labels else "all"],
        *([f"report of {code(entry.name)}", _set(entry)] for entry in preset.evaluators),
    ]
    return table((code(preset.name), ""), rows)


def _set(entry: EvaluatorSpec) -> str:
    values = (code(f"{name} = {_shown(value)}") for name, value in entry.parameters.items())
    return ", ".join(values) or "default parameters"


def pages_by_preset() -> dict[str, list[str]]:
    """The pages of docs/presets/ that have the table of a preset, by preset."""
    found: dict[str, list[str]] = {}
    for page in sorted(PRESET_PAGES.glob("*.md")):
        for names in re.findall(r"<!-- generated: presets (.+?) -->", page.read_text("utf-8")):
            for name in names.split():
                found.setdefault(name, []).append(page.name)
    return found


# --- formats and clients ---------------------------------------------------------------------


def formats(page: str) -> str:
    """Every file format, with a link to its heading on a page."""
    rows = [[f"[`{name}`]({page}#{name})", known.title] for name, known in FORMATS.items()]
    return table(("format", "what it is"), rows)


def clients() -> str:
    """The client of each language, with a link to its page."""
    rows = [
        [f"[{CLIENTS[name].language}](clients/{name}/README.md)", code(CLIENTS[name].package)]
        for name in LANGUAGES
    ]
    return table(("language", "package"), rows)


# --- server ----------------------------------------------------------------------------------


def settings() -> str:
    """Settings of the server."""
    return _choices("setting", Settings)


def policy() -> str:
    """Keys of a hosted benchmark's policy."""
    return _choices("key", Policy)


def _choices(heading: str, kind: type) -> str:
    rows = [
        [code(entry.name), code(_shown(entry.default)), _allowed(entry), _meaning(entry)]
        for entry in describe_parameters(kind)
    ]
    return table((heading, "default", "allowed", "meaning"), rows)


def setting_spellings() -> str:
    """The spelling of one setting in each source."""
    name = "maximum_streams"
    rows = [
        ["command line", code("--" + name.replace("_", "-") + " 20")],
        ["environment", code(f"{ENVIRONMENT_PREFIX}{name.upper()}=20")],
        ["settings file", code(f"{name} = 20")],
    ]
    return table(("source, strongest first", "spelling"), rows)


def errors() -> str:
    """Reason and canonical code of every error that the server may return."""
    rows = []
    for kind in error_classes():
        if "reason" not in vars(kind):
            continue  # it has the reason and the code of its base class
        found = code_of(kind.__new__(kind))
        if found is not None:
            when = (kind.__doc__ or "").partition("\n")[0]
            rows.append([code(kind.reason), code(found.name), when])
    rows.append([code("INTERNAL"), code("INTERNAL"), "A bug in the server."])
    return table(("reason", "code", "when"), rows)


def error_classes() -> list[type[VidscoreError]]:
    """Every error class of evaluators and server, by reason."""
    for package in (vidscore_evaluators, vidscore_server):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith(NOT_IMPORTED) and ".testing" not in module.name:
                import_module(module.name)
    return sorted(_subclasses(VidscoreError), key=lambda kind: kind.reason)


def _subclasses(kind: type[VidscoreError]) -> set[type[VidscoreError]]:
    direct = {entry for entry in kind.__subclasses__() if entry.__module__.startswith("vidscore_")}
    return direct.union(*map(_subclasses, direct))


# --- protocol --------------------------------------------------------------------------------


def rpcs() -> str:
    """Every RPC, with a link to its heading on the same page."""
    rows = [
        [
            code(service.name),
            f"[`{rpc.name}`](#{rpc.name.lower()})",
            _exchange(rpc.kind),
            _served(f"vidscore.v1.{service.name}"),
            _roles(f"/vidscore.v1.{service.name}/{rpc.name}"),
        ]
        for service in _declared("service")
        for rpc in service.members
    ]
    return table(("service", "RPC", "request and response", "served", "who may call it"), rows)


def _served(name: str) -> str:
    if name in SERVICES:
        return "always"
    return "with a store" if name in HOSTED_SERVICES else "not yet"


def _roles(method: str) -> str:
    roles = ROLES_BY_RPC.get(method, frozenset())
    if method in PUBLIC_RPCS:
        return "anyone, of public benchmarks"
    if None in roles:
        return "anyone"
    return ", ".join(role.value for role in Role if role in roles)


def role_table() -> str:
    """Every RPC, and who may call it."""
    shown = [None, Role.VIEWER, Role.PARTICIPANT, Role.ORGANISER]
    rows = []
    for method, allowed in ROLES_BY_RPC.items():
        cells = ["yes" if role in allowed else "" for role in shown]
        if method in OF_SUBMISSIONS:
            cells[2] = "own team's"
        if method in PUBLIC_RPCS:
            cells[0] = "of public benchmarks"
        rows.append([code(method.strip("/")), *cells])
    rows.extend([code(method.strip("/")), *["yes"] * len(shown)] for method in OPEN_RPCS)
    return table(("RPC", "no token", "viewer", "participant", "organiser"), rows)


def service(name: str) -> str:
    """The comments of a service and of its RPCs, under headings."""
    [found] = [declared for declared in _declared("service") if declared.name == name]
    sections = [_prose(found), *(f"### {rpc.name}\n\n{rpc.comment}" for rpc in found.members)]
    return "\n\n".join(sections)


def messages(file: str) -> str:
    """Every message and enum of a .proto file, under headings."""
    sections = []
    for declared in declarations(PROTOS / file):
        if declared.keyword == "service":
            continue
        parts = [f"### {declared.name}", _prose(declared)]
        if declared.members:
            parts.append(_members(declared))
        sections.append("\n\n".join(parts))
    return "\n\n".join(sections)


def _declared(keyword: str) -> list[Declaration]:
    return [declared for declared in _all_declarations() if declared.keyword == keyword]


@cache
def _all_declarations() -> tuple[Declaration, ...]:
    files = sorted(PROTOS.glob("*.proto"))
    return tuple(declared for path in files for declared in declarations(path))


def _exchange(kind: str) -> str:
    """``stream A -> B`` with links to the messages; Google's messages are code spans."""

    def linked(match: re.Match[str]) -> str:
        name = match[0]
        ours = "." not in name
        return f"[`{name}`]({MESSAGES_PAGE}#{name.lower()})" if ours else code(name)

    request, response = kind.split(" -> ")
    sides = (re.sub(r"(?<![\w.])(?!stream\b)[\w.]+", linked, side) for side in (request, response))
    return " → ".join(sides)


def _prose(declared: Declaration) -> str:
    return re.sub(r"\n{2,}", "\n\n", declared.comment)


def _members(declared: Declaration) -> str:
    if declared.keyword == "enum":
        rows = [[code(value.name), value.kind, value.comment] for value in declared.members]
        return table(("value", "number", "meaning"), rows)
    rows = [
        [code(entry.name), _type(entry.kind), _alternative(entry.oneof) + entry.comment]
        for entry in declared.members
    ]
    return table(("field", "type", "meaning"), rows)


def _alternative(oneof: str) -> str:
    return f"*One of `{oneof}`:* " if oneof else ""


def _type(kind: str) -> str:
    *label, name = kind.split(" ")
    own = {entry.name for keyword in ("message", "enum") for entry in _declared(keyword)}
    linked = f"[`{name}`](#{name.lower()})" if name in own else code(name)
    return " ".join([*label, linked])


TABLES: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "campaigns": campaigns_table,
        "clients": clients,
        "command-sections": command_sections,
        "commands": commands,
        "connection-options": connection_options,
        "errors": errors,
        "evaluators": evaluators,
        "facts": facts,
        "faults": sum_of_faults,
        "figures": figures_table,
        "formats": formats,
        "measures": measures,
        "messages": messages,
        "options": options,
        "parameters": parameters,
        "policy": policy,
        "presets": presets,
        "promises": promises_table,
        "rpcs": rpcs,
        "roles": role_table,
        "service": service,
        "setting-spellings": setting_spellings,
        "settings": settings,
        "shared-options": shared_options,
    }
)
"""Every table, by its name on the pages."""

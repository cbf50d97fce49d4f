"""The page of formats names exactly the existing formats, columns, flags and keys."""

from __future__ import annotations

from tests.docs.pages_of import first_cells, page, section
from tools.docs_pages import headings

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.convert import rules_of
from vidscore_evaluators.formats import (
    FORMATS,
    _heads,
    _line_rules,
    generic,
    json_lines,
    manifest,
    neovision2,
    spotgeo,
)
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec

PAGE = page("formats.md")


def test_every_format_has_a_heading() -> None:
    assert [name for name in FORMATS if name not in headings(PAGE)] == []


def test_every_format_is_in_the_first_table_and_no_other() -> None:
    table = PAGE.partition("\n## ")[0]
    assert set(FORMATS) <= set(first_cells(table)) <= {*FORMATS, "format="}


def test_the_keys_of_spotgeo_json_are_listed() -> None:
    assert tuple(first_cells(section(PAGE, "## spotgeo-json"))) == spotgeo.KEYS


def test_the_columns_of_neovision2_are_listed() -> None:
    listed = section(PAGE, "## neovision2-csv")
    assert ",".join(neovision2.HEADER) in listed
    others = set(neovision2.HEADER) - set(neovision2.CORNERS)
    assert set(first_cells(listed)) - set(neovision2.CORNERS) == others


def test_the_columns_and_flags_of_generic_csv_are_listed() -> None:
    listed = set(first_cells(section(PAGE, "## generic-csv")))
    shapes = {"x,y", "x1,y1,x2,y2", "x1,y1,...,x4,y4"}
    coordinates = {name for names in generic.COORDINATES.values() for name in names}
    columns = set(generic.KINDS) - coordinates
    flags = {str(flag.name).lower() for flag in ObjectFlag} | {generic.FRAME_FLAG}
    assert listed == columns | shapes | flags


def test_the_keys_of_json_lines_are_listed() -> None:
    listed = set(first_cells(section(PAGE, "## jsonl")))
    shown = {*_heads.FRAME_KEYS, *_line_rules.OBJECT_KEYS}
    assert listed == shown


def test_the_schema_of_json_lines_is_on_the_page_of_pipes() -> None:
    assert f"```json\n{json_lines.schema_text()}```\n" in page("pipe.md")


def test_the_other_names_of_columns_are_listed() -> None:
    listed = section(PAGE, "## generic-csv")
    for meant in dict.fromkeys(generic.ALIASES.values()):
        names = [f"`{name}`" for name, column in generic.ALIASES.items() if column == meant]
        assert f"| `{meant}` | {', '.join(names)} |" in listed


def test_the_keys_of_the_manifest_are_listed() -> None:
    listed = set(first_cells(section(PAGE, "## Manifest")))
    top = set(rules_of(BenchmarkSpec))
    sequence = set(rules_of(SequenceSpec)) | set(manifest._MEASURES)
    tables = {"evaluators", "domains", "sequences"}
    assert listed == (top - tables) | {f"[[{name}]]" for name in tables} | (
        sequence - {"name", "domain"}
    )

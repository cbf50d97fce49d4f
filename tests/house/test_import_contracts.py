"""The contract type that enforces the table of who may import whom."""

from __future__ import annotations

from grimp import ImportGraph
from tools.import_contracts import AllowedContract


def _check(importer: str, imported: str, *allowed: str) -> bool:
    graph = ImportGraph()
    for module in ("ours", "ours.sub", "ours.sub.leaf", importer, imported):
        graph.add_module(module)
    graph.add_import(
        importer=importer, imported=imported, line_number=1, line_contents=f"import {imported}"
    )
    contract = AllowedContract(
        name="test",
        session_options={"root_packages": ["ours"]},
        contract_options={"package": "ours", "allowed": list(allowed)},
    )
    return bool(contract.check(graph, verbose=False).kept)


def test_an_import_that_no_entry_names_breaks_the_contract() -> None:
    assert not _check("ours.sub", "numpy", "scipy")


def test_an_entry_allows_its_package_everywhere() -> None:
    assert _check("ours.sub", "numpy", "scipy", "numpy")


def test_the_standard_library_and_the_package_itself_need_no_entry() -> None:
    assert _check("ours.sub", "json")
    assert _check("ours", "ours.sub")


def test_an_entry_with_a_place_allows_its_package_only_there_and_below() -> None:
    assert _check("ours.sub", "orjson", "orjson in ours.sub")
    assert _check("ours.sub.leaf", "orjson", "orjson in ours.sub")
    assert not _check("ours", "orjson", "orjson in ours.sub")


def test_a_name_that_only_starts_the_same_is_not_allowed() -> None:
    assert not _check("ours.sub", "numpydoc", "numpy")

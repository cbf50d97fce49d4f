"""An import-linter contract that lists the allowed imports of a package, not the forbidden ones.

A list of forbidden packages would allow every new dependency until someone adds it.
"""

from __future__ import annotations

import sys

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class AllowedContract(Contract):
    """Modules of `package` import the standard library, each other and `allowed`, directly.

    An entry `"name"` allows a package everywhere; `"name in some.module"` only in that module and
    below it.
    """

    type_name = "allowed"

    package = fields.StringField()
    allowed = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:  # noqa: ARG002
        """Collect the direct imports that no entry allows."""
        package = str(self.package)
        broken = [
            f"{importer} imports {imported} (line {lines})"
            for importer in sorted({package, *graph.find_descendants(package)})
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if not self._allows(importer, imported)
            for lines in [_line_numbers(graph, importer, imported)]
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print one line per import."""
        for line in check.metadata["broken"]:
            output.print_error(line)

    def _allows(self, importer: str, imported: str) -> bool:
        root = imported.partition(".")[0]
        if root in sys.stdlib_module_names or _is_within(imported, str(self.package)):
            return True
        entries = (str(entry).partition(" in ") for entry in self.allowed)  # type: ignore[attr-defined]
        return any(
            _is_within(imported, name) and (not place or _is_within(importer, place))
            for name, _, place in entries
        )


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _line_numbers(graph: ImportGraph, importer: str, imported: str) -> str:
    details = graph.get_import_details(importer=importer, imported=imported)
    return ", ".join(str(detail["line_number"]) for detail in details)

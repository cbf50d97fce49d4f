"""Update everything that is generated from code: tables, a picture, outputs, the library's types.

    python -m tools.refresh_docs            rewrite the pages
    python -m tools.refresh_docs --check    compare only; status 1 and a list if one is stale

The tests of the documentation compare all of it with the code.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.docs_examples import DocsServer, ExampleError, PageRun, docs_server
from tools.docs_pages import ROOT, example_pages, pages
from tools.docs_tables import TABLES
from tools.front_picture import front_picture
from tools.library_types import STUB, library_types

PICTURE = ROOT / "docs/vidscore.svg"

_GENERATED = re.compile(
    r"(<!-- generated: (?P<name>[\w-]+)(?P<arguments>[^\n]*?) -->\n)(?P<text>.*?)"
    r"(<!-- end of generated -->)",
    re.DOTALL,
)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--check", action="store_true", help="compare all but outputs, write nothing"
    )
    options = parser.parse_args()
    stale = _apply(pages(), with_fresh_tables, write=not options.check)
    stale += _apply([PICTURE], lambda _: front_picture(), write=not options.check)
    stale += _apply([STUB], lambda _: library_types(), write=not options.check)
    if options.check:
        sys.exit("stale; run `make docs`:\n  " + "\n  ".join(stale) if stale else 0)
    with docs_server() as server:
        stale += _apply(example_pages(), lambda text: with_fresh_outputs(text, server), write=True)
    print("\n".join(dict.fromkeys(stale)) or "nothing to refresh")


def with_fresh_tables(text: str) -> str:
    """A page with its generated tables updated.

    Raises:
        KeyError: If a page asks for a table that does not exist.
    """

    def replaced(match: re.Match[str]) -> str:
        made = TABLES[match["name"]](*match["arguments"].split())
        return f"{match[1]}\n{made}\n\n{match[5]}"

    return _GENERATED.sub(replaced, text)


def with_fresh_outputs(text: str, server: DocsServer) -> str:
    """A page with the outputs of its examples updated, except outputs that the page shortens."""
    with tempfile.TemporaryDirectory() as folder:
        outcomes = list(PageRun(Path(folder).resolve(), *server).run(text))
    for outcome in reversed(outcomes):
        if outcome.matches:
            continue
        if outcome.is_elided:
            print(f"not as printed, and elided, line {outcome.line}:\n{outcome.printed}")
            continue
        end = outcome.start + len(outcome.expected)
        text = text[: outcome.start] + outcome.printed + text[end:]
    return text


def _apply(chosen: Sequence[Path], change: Callable[[str], str], *, write: bool) -> list[str]:
    """Change pages; name those that were different before."""
    changed = []
    for page in chosen:
        before = page.read_text(encoding="utf-8")
        try:
            after = change(before)
        except ExampleError as error:
            print(f"{page.relative_to(ROOT)}: {error}")
            continue
        if after != before:
            changed.append(str(page.relative_to(ROOT)))
            if write:
                page.write_text(after, encoding="utf-8")
    return changed


if __name__ == "__main__":
    main()

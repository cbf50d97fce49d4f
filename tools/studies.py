"""Shared code of the documentation's studies: stored results, and their places on a page.

On a page, ``<!-- study: NAME -->`` and ``<!-- end of study -->`` surround a result.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

_BLOCK = re.compile(
    r"(<!-- study: (?P<name>[\w-]+) -->\n)(?P<text>.*?)(<!-- end of study -->)", re.DOTALL
)


def kept_results(path: Path, make: Callable[[], Any], *, fresh: bool) -> Any:
    """The stored results of an earlier run, or the results of a new one.

    Args:
        path: Where they are stored, as JSON.
        make: Computes them.
        fresh: Whether to compute them again.
    """
    if fresh or not path.is_file():
        print(f"{path.stem} ...", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make(), allow_nan=False), "utf-8")
    return json.loads(path.read_text("utf-8"))


def fill_page(page: Path, blocks: Mapping[str, str]) -> None:
    """Put results in their places in a page.

    Args:
        page: The page.
        blocks: Texts by the names of their places.
    """
    text = page.read_text("utf-8")
    page.write_text(
        _BLOCK.sub(lambda block: f"{block[1]}\n{blocks[block['name']]}\n\n{block[4]}", text),
        "utf-8",
    )


def block_of(page: Path, name: str) -> str:
    """The result at a place of a page.

    Raises:
        KeyError: If the page has no such place.
    """
    found = {block["name"]: block["text"] for block in _BLOCK.finditer(page.read_text("utf-8"))}
    return found[name].strip()

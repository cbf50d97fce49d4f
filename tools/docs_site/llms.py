"""The list of pages for language models: https://llmstxt.org."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from tools.docs_site.doors import Entry, Group
from tools.docs_site.references import ENTRIES


def llms_text(index: str, listed: Iterable[Group]) -> str:
    """The list, with links to pages in Markdown.

    Args:
        index: The first page; its first paragraph describes the project.
        listed: The groups of the navigation.
    """
    about = " ".join(index.split("\n\n")[1].split())
    lines = ["# vidscore", "", f"> {about}", ""]
    lines += ["Every command and program on these pages is run by the tests of the project."]
    for group in listed:
        lines += ["", f"## {group.title}", ""]
        lines += [f"- [{entry.title}]({_file(entry)}): {entry.about}" for entry in group.entries]
    return "\n".join([*lines, ""])


def _file(entry: Entry) -> str:
    """The page in Markdown, or in HTML if it is made from code."""
    if entry in ENTRIES:
        return str(PurePosixPath(entry.place).with_suffix(".html"))
    return entry.place

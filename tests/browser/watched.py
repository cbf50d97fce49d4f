"""A browser tab that records errors and foreign requests."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.support.tree import ROOT

AXE = ROOT / "build/browser/node_modules/axe-core/axe.min.js"

RUN_AXE = "axe.run({rules: {'target-size': {enabled: true}}})"
"""All rules, also the one of WCAG 2.2 on the size of links and buttons, which is off by default."""


class Watched:
    """A tab with its errors and its requests."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._note)
        page.on("request", lambda request: self.requests.append(request.url))

    def _note(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def violations(self) -> list[str]:
        """Violations found by axe, and duplicate ids, of which labels name only the first."""
        self.page.evaluate(AXE.read_text("utf-8"))
        found = self.page.evaluate(RUN_AXE)["violations"]
        ids: list[str] = self.page.evaluate(
            "[...document.querySelectorAll('[id]')].map(one => one.id)"
        )
        return [
            *(f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found),
            *(f"id {one} is there twice" for one, count in Counter(ids).items() if count > 1),
        ]

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        width: int = self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        return width

    def beyond_the_edge(self) -> str:
        """The element that reaches furthest to the right, without its containers."""
        found: str = self.page.evaluate(
            "[...document.querySelectorAll('main :not(:has(*))')].map(one => "
            "[one.getBoundingClientRect().right, one.outerHTML])"
            ".sort((one, other) => other[0] - one[0] || one[1].length - other[1].length)[0][1]"
        )
        return found[:200]

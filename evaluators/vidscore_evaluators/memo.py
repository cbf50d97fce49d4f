"""Memo: what several evaluators work out of the same input, worked out once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Result = TypeVar("Result")


class Memo:
    """Results by key, for as long as the input lives that they were worked out of.

    What is kept is shared: nobody may write into it.
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._results: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What was made under a key before; else what is made now.

        Args:
            key: Names everything that the result depends on besides the input itself.
            make: Makes the result; pure.
        """
        if key not in self._results:
            self._results[key] = make()
        result: Result = self._results[key]
        return result

"""Which frames of a source were taken already, in a form small enough to be stored with them."""

from __future__ import annotations

from collections.abc import Iterable

MAXIMUM_TEXT = 12_000
"""Most characters of all runs, roughly as JSON; beyond them the oldest are forgotten."""

Run = tuple[str, str, int, int, int]
"""Domain, sequence, first number, last number, step."""

_NUMBERS_TEXT = 60


class DeliveredFrames:
    """The frames of a source that were taken.

    Numbers of a sequence mostly ascend in even steps, so they are kept as runs. A broker sends
    again what it does not know to be acknowledged, which is never old; where it is older than what
    is kept, the server refuses it.

    Args:
        runs: What `runs` has given before.
    """

    def __init__(self, runs: Iterable[Iterable[str | int]] = ()) -> None:
        self._rows: list[tuple[str, str, list[int]]] = []
        for domain, sequence, *numbers in runs:
            self._rows.append((str(domain), str(sequence), [int(number) for number in numbers]))

    @property
    def runs(self) -> list[Run]:
        """All runs, the oldest first; plain values, as JSON has them."""
        return [(domain, sequence, *numbers) for domain, sequence, numbers in self._rows]  # type: ignore[misc]

    def add(self, domain: str, sequence: str, number: int) -> bool:
        """Take in a frame.

        Returns:
            Whether it had not been taken before.
        """
        own = [row[2] for row in self._rows if row[:2] == (domain, sequence)]
        for first, last, step in own:
            if first <= number <= last and not (number - first) % step:
                return False
        if not (own and _extend(own[-1], number)):
            self._rows.append((domain, sequence, [number, number, 1]))
            self._forget()
        return True

    def _forget(self) -> None:
        sizes = [_NUMBERS_TEXT + len((row[0] + row[1]).encode()) for row in self._rows]
        while sum(sizes) > MAXIMUM_TEXT:
            del sizes[0], self._rows[0]


def _extend(run: list[int], number: int) -> bool:
    """Let a run end with a number, where that keeps its step."""
    first, last, step = run
    if first == last and number > last:
        run[1:] = [number, number - first]
        return True
    if number == last + step:
        run[1] = number
        return True
    return False

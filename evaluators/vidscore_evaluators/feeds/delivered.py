"""Which frames of a source were taken already, in a form small enough to be stored with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

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
        self._rows: deque[tuple[str, str, list[int]]] = deque()
        self._runs: dict[tuple[str, str], list[list[int]]] = {}
        self._text = 0
        for domain, sequence, *numbers in runs:
            self._append(str(domain), str(sequence), [int(number) for number in numbers])

    @property
    def runs(self) -> list[Run]:
        """All runs, the oldest first; plain values, as JSON has them."""
        return [(domain, sequence, *numbers) for domain, sequence, numbers in self._rows]  # type: ignore[misc]

    def add(self, domain: str, sequence: str, number: int) -> bool:
        """Take in a frame.

        Returns:
            Whether it had not been taken before.
        """
        own = self._runs.get((domain, sequence), ())
        for first, last, step in own:
            if first <= number <= last and not (number - first) % step:
                return False
        if not (own and _extend(own[-1], number)):
            self._append(domain, sequence, [number, number, 1])
        return True

    def add_all(self, domain: str, sequence: str, numbers: Sequence[int]) -> list[bool]:
        """Take in frames of a sequence, as `add` does it one after the other.

        Args:
            domain: Its domain.
            sequence: Its name.
            numbers: At least one number.

        Returns:
            For each whether it had not been taken before.
        """
        own = self._runs.get((domain, sequence))
        if own and all(run[1] < numbers[0] for run in own[:-1]):
            first, last, step = own[-1]
            step = numbers[0] - last if first == last else step
            if is_even(last, step, numbers):
                own[-1][1:] = [numbers[-1], step]
                return [True] * len(numbers)
        return [self.add(domain, sequence, number) for number in numbers]

    def _append(self, domain: str, sequence: str, numbers: list[int]) -> None:
        self._rows.append((domain, sequence, numbers))
        self._runs.setdefault((domain, sequence), []).append(numbers)
        self._text += _text_of(domain, sequence)
        while self._text > MAXIMUM_TEXT:
            oldest_domain, oldest_sequence, _ = self._rows.popleft()
            self._text -= _text_of(oldest_domain, oldest_sequence)
            left = self._runs[oldest_domain, oldest_sequence]
            del left[0]
            if not left:
                del self._runs[oldest_domain, oldest_sequence]


def is_even(before: int, step: int, numbers: Sequence[int]) -> bool:
    """Whether numbers ascend by one step, from one before them on."""
    first, end = before + step, before + step * len(numbers)
    return step > 0 and end == numbers[-1] and list(range(first, end + 1, step)) == numbers


def _text_of(domain: str, sequence: str) -> int:
    return _NUMBERS_TEXT + len((domain + sequence).encode())


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

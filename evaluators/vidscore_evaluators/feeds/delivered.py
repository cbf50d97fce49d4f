"""Records which frames of a source were received, compactly enough to be stored with them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from operator import itemgetter

MAXIMUM_TEXT = 12_000
"""Upper bound on the characters of all runs as JSON, approximately; beyond it, the oldest are
dropped."""

Run = tuple[str, str, int, int, int]
"""Domain, sequence, first number, last number, step."""

_NUMBERS_TEXT = 60

_FEW_ROWS = 32
"""Number of runs below which joining is not worthwhile."""


class DeliveredFrames:
    """The frames of a source that were received.

    Numbers in a sequence mostly ascend in equal steps, so they are kept as runs. For other orders,
    runs are joined from time to time. A broker resends frames whose acknowledgement it has not
    seen, which are never old; the server refuses frames older than those kept here.

    Args:
        runs: An earlier value of `runs`.
    """

    def __init__(self, runs: Iterable[Iterable[str | int]] = ()) -> None:
        self._rows: deque[tuple[str, str, list[int]]] = deque()
        self._runs: dict[tuple[str, str], list[list[int]]] = {}
        self._text = 0
        self._most_rows = _FEW_ROWS
        for domain, sequence, *numbers in runs:
            self._append(str(domain), str(sequence), [int(number) for number in numbers])

    @property
    def runs(self) -> list[Run]:
        """All runs, the oldest first, as plain values for JSON."""
        return [(domain, sequence, *numbers) for domain, sequence, numbers in self._rows]  # type: ignore[misc]

    def add(self, domain: str, sequence: str, number: int) -> bool:
        """Add a frame.

        Returns:
            Whether it is new.
        """
        own = self._runs.get((domain, sequence), ())
        for first, last, step in own:
            if first <= number <= last and not (number - first) % step:
                return False
        if not (own and _extend(own[-1], number)):
            self._append(domain, sequence, [number, number, 1])
        return True

    def add_all(self, domain: str, sequence: str, numbers: Sequence[int]) -> list[bool]:
        """Add frames of a sequence, like repeated calls of `add`.

        Args:
            domain: Its domain.
            sequence: Its name.
            numbers: At least one number.

        Returns:
            Whether each frame is new.
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
        if len(self._rows) > self._most_rows or self._text > MAXIMUM_TEXT:
            self._join()
            self._most_rows = 2 * len(self._rows) + _FEW_ROWS
        if self._text > MAXIMUM_TEXT:
            self._forget(MAXIMUM_TEXT - MAXIMUM_TEXT // 8)  # else runs are joined each time

    def _join(self) -> None:
        """Reduce the runs of each sequence to as few as possible; each keeps about its age."""
        places: dict[tuple[str, str], list[int]] = {}
        for place, (domain, sequence, _) in enumerate(self._rows):
            places.setdefault((domain, sequence), []).append(place)
        rows: list[tuple[int, tuple[str, str, list[int]]]] = []
        self._text = 0
        for (domain, sequence), own in places.items():
            runs = joined(self._runs[domain, sequence])
            self._runs[domain, sequence] = runs
            self._text += len(runs) * _text_of(domain, sequence)
            named = [(domain, sequence, run) for run in runs]
            rows.extend(zip(own[-len(runs) :], named, strict=True))
        self._rows = deque(row for _, row in sorted(rows, key=itemgetter(0)))

    def _forget(self, most_text: int) -> None:
        while self._text > most_text:
            domain, sequence, _ = self._rows.popleft()
            self._text -= _text_of(domain, sequence)
            left = self._runs[domain, sequence]
            del left[0]
            if not left:
                del self._runs[domain, sequence]


def joined(runs: list[list[int]]) -> list[list[int]]:
    """Join runs into fewer, the highest last; or return them unchanged.

    Steps of short runs are guesses for frames that came out of order, so they are determined anew.
    """
    if len(runs) == 1:
        return runs
    return min(runs, _joined(runs, 2), _joined(runs, 8), key=len)


def _joined(runs: list[list[int]], most_numbers: int) -> list[list[int]]:
    """Join runs; the numbers of short runs are regrouped by their steps."""
    numbers: list[int] = []
    parts: list[list[int]] = []
    for first, last, step in runs:
        if last - first < most_numbers * step:
            numbers += range(first, last + 1, step)
        else:
            parts.append([first, last, step])
    made: list[list[int]] = []
    for number in sorted(numbers):
        if made and _extend(made[-1], number):
            continue
        if made and made[-1][0] + made[-1][2] == made[-1][1]:  # a step that only two numbers have
            made[-1], second = [made[-1][0], made[-1][0], 1], made[-1][1]
            made.append([second, number, number - second])
        else:
            made.append([number, number, 1])
    return sorted(_adjoined(sorted(made + parts)), key=itemgetter(1))


def _adjoined(runs: list[list[int]]) -> list[list[int]]:
    """Merge runs that continue one another; they are sorted by first number."""
    by_next: dict[int, list[int]] = {}
    single: dict[int, list[int]] = {}
    found: list[list[int]] = []
    for run in runs:
        first, last, step = run
        before = by_next.get(first)
        if before is not None and (first == last or before[2] == step):
            del by_next[first]
            single.pop(before[0], None)
            before[1] = last
            by_next[last + before[2]] = before
            continue
        alone = single.pop(first - step, None) if first < last else None
        if alone is not None:
            by_next.pop(alone[0] + 1, None)
            alone[1:] = [last, step]
            by_next[last + step] = alone
            continue
        found.append(run)
        by_next[last + step] = run
        if first == last:
            single[first] = run
    return found


def is_even(before: int, step: int, numbers: Sequence[int]) -> bool:
    """Whether numbers ascend by one step, starting from the number before them."""
    first, end = before + step, before + step * len(numbers)
    return step > 0 and end == numbers[-1] and list(range(first, end + 1, step)) == numbers


def _text_of(domain: str, sequence: str) -> int:
    return _NUMBERS_TEXT + len((domain + sequence).encode())


def _extend(run: list[int], number: int) -> bool:
    """Extend a run to a number if that keeps its step."""
    first, last, step = run
    if first == last and number > last:
        run[1:] = [number, number - first]
        return True
    if number == last + step:
        run[1] = number
        return True
    return False

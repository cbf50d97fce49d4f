"""Which frames have come, in room that grows with the gaps between them alone."""

from __future__ import annotations

from bisect import bisect_right

from vidscore_evaluators.annotations import SequenceKey


class SeenFrames:
    """The frames of a stream that may be endless, as runs of successive numbers."""

    def __init__(self) -> None:
        self._runs: dict[SequenceKey, tuple[list[int], list[int]]] = {}

    def add(self, key: SequenceKey, number: int) -> bool:
        """Add a frame.

        Args:
            key: Its sequence.
            number: Its number.

        Returns:
            Whether it is new.
        """
        firsts, lasts = self._runs.setdefault(key, ([], []))
        after = bisect_right(firsts, number)
        if after and lasts[after - 1] >= number:
            return False
        follows = after > 0 and lasts[after - 1] == number - 1
        precedes = after < len(firsts) and firsts[after] == number + 1
        if follows and precedes:
            lasts[after - 1] = lasts.pop(after)
            del firsts[after]
        elif follows:
            lasts[after - 1] = number
        elif precedes:
            firsts[after] = number
        else:
            firsts.insert(after, number)
            lasts.insert(after, number)
        return True

"""What a process takes while it is under load: memory, descriptors, and answers in time."""

from __future__ import annotations

import asyncio
import os
import re
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

INTERVAL_S = 0.25
MEBIBYTE = 1 << 20


def resident_mebibytes(process_id: int) -> float:
    """Memory of a process that is not swapped out."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(kibibytes) / 1024


def open_descriptors(process_id: int) -> int:
    """Descriptors that a process has open."""
    return len(list(Path(f"/proc/{process_id}/fd").iterdir()))


@dataclass
class Peaks:
    """The most that a process had at a time, and how busy its machine was meanwhile.

    Attributes:
        memory_mib: Its memory.
        descriptors: Descriptors that it had open.
        loads: Load averages of the machine, of a minute each.
    """

    memory_mib: float = 0.0
    descriptors: int = 0
    loads: list[float] = field(default_factory=list)

    def look(self, process_id: int) -> None:
        """See what it has now."""
        self.memory_mib = max(self.memory_mib, resident_mebibytes(process_id))
        self.descriptors = max(self.descriptors, open_descriptors(process_id))
        self.loads.append(os.getloadavg()[0])


@asynccontextmanager
async def peaks_of(process_id: int) -> AsyncIterator[Peaks]:
    """Look at a process again and again during the block."""
    peaks = Peaks()

    async def look() -> None:
        while True:
            peaks.look(process_id)
            await asyncio.sleep(INTERVAL_S)

    looking = asyncio.create_task(look())
    try:
        yield peaks
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking


@dataclass
class Waits:
    """How long frames of one stream wait for their acknowledgement.

    Attributes:
        seconds: Of each frame that has been acknowledged.
    """

    seconds: list[float] = field(default_factory=list)
    _sent_s: deque[float] = field(default_factory=deque)

    def sent(self) -> None:
        """The next frame is sent."""
        self._sent_s.append(monotonic())

    def acknowledged(self, frame_count: int) -> None:
        """So many frames are durable."""
        now_s = monotonic()
        while len(self.seconds) < frame_count and self._sent_s:
            self.seconds.append(now_s - self._sent_s.popleft())


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that so many percent do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

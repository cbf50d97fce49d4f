"""Measure a process under load: its memory, its descriptors, and the latency of its answers."""

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
    """Resident memory of a process."""
    status = Path(f"/proc/{process_id}/status").read_text(encoding="ascii")
    [kibibytes] = re.findall(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(kibibytes) / 1024


def open_descriptors(process_id: int) -> int:
    """Descriptors that a process has open."""
    return len(list(Path(f"/proc/{process_id}/fd").iterdir()))


@dataclass
class Peaks:
    """Peak values of a process, and the load of its machine meanwhile.

    Attributes:
        memory_mib: Peak memory.
        descriptors: Peak number of open descriptors.
        loads: One-minute load averages of the machine.
    """

    memory_mib: float = 0.0
    descriptors: int = 0
    loads: list[float] = field(default_factory=list)

    def look(self, process_id: int) -> None:
        """Take the present values."""
        self.memory_mib = max(self.memory_mib, resident_mebibytes(process_id))
        self.descriptors = max(self.descriptors, open_descriptors(process_id))
        self.loads.append(os.getloadavg()[0])


@asynccontextmanager
async def peaks_of(process_id: int) -> AsyncIterator[Peaks]:
    """Measure a process repeatedly during the block."""
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
    """The time from sending a frame of one stream to its acknowledgement.

    Attributes:
        seconds: The latency of each acknowledged frame.
    """

    seconds: list[float] = field(default_factory=list)
    _sent_s: deque[float] = field(default_factory=deque)

    def sent(self) -> None:
        """Note that the next frame is sent."""
        self._sent_s.append(monotonic())

    def acknowledged(self, frame_count: int) -> None:
        """Note that this number of frames is durable."""
        now_s = monotonic()
        while len(self.seconds) < frame_count and self._sent_s:
            self.seconds.append(now_s - self._sent_s.popleft())


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that this percentage of values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]

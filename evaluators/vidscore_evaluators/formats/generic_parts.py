"""Generic CSV written part by part, for more detections than memory should hold.

All parts get the columns of all of them, so a first pass examines each part and a second one writes
it.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.formats import generic
from vidscore_evaluators.formats._format import WriteOptions, refuse_formulas


class GenericParts(Struct):
    """Writes the parts of one file.

    Attributes:
        side: The side of the detections.
    """

    side: Side
    _columns: set[str] = field(default_factory=set)
    _has_times: bool = False
    _begun: bool = False

    def look_at(self, part: Annotations) -> None:
        """Record the columns of a part.

        Raises:
            InputError: If CSV cannot represent its names.
        """
        refuse_formulas(part)
        self._columns.update(part.columns)
        self._has_times |= part.frame_times_s is not None

    def write(self, part: Annotations) -> bytes:
        """The lines of an examined part; for the first one, with the header."""
        nothing = np.full(part.object_count, np.nan)
        times = part.frame_times_s
        if times is None and self._has_times:
            times = np.full(part.frame_count, np.nan)
        whole = replace(
            part,
            columns={name: part.columns.get(name, nothing) for name in sorted(self._columns)},
            frame_times_s=times,
        )
        data = generic.FORMAT.writer.write(whole, self.side, WriteOptions())[""]
        if self._begun:
            return data.partition(b"\n")[2]
        self._begun = True
        return data

"""How an object is drawn, by its outcome: colour, line and mark all differ.

The colours can be distinguished with any kind of colour vision, and their contrast with white is at
least 4.5 to 1. Each line over a picture has a white casing, so one set serves dark and light
pictures.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.arrays import BoolArray, FlagArray
from vidscore_evaluators.outcome_table import OUTCOMES, Outcome

Image = NDArray[np.uint8]
"""(height, width, 3) blue, green and red."""

Colour = tuple[int, int, int]
"""Blue, green and red from 0 to 255, in OpenCV's order."""


def colour(code: str) -> Colour:
    """Convert ``#0b6bb8`` to OpenCV's order."""
    red, green, blue = bytes.fromhex(code.removeprefix("#"))
    return blue, green, red


WHITE = colour("#ffffff")
INK = colour("#1b1c1e")
SECOND_INK = colour("#505359")
PAPER = colour("#fcfcfa")
RULE = colour("#84878c")
BLANK = colour("#8d9196")
"""Background of a canvas without a picture."""


class Kind(StrEnum):
    """Outcomes of an object that are drawn differently."""

    HIT = "hit"
    FALSE_ALARM = "false_alarm"
    MISS = "miss"
    ID_SWITCH = "id_switch"
    IGNORED = "ignored"


KINDS = tuple(Kind)
"""Kinds by their numbers."""

NO_KIND = np.uint8(255)
"""Number of objects that are not drawn."""


class Style(Struct, frozen=True):
    """How a kind is drawn.

    Attributes:
        colour: Colour of its line, mark and plate.
        width: Width of its line, in line widths of the picture.
        dashes: Lengths of dash, gap, dash, ... in line widths of the picture; empty for a solid
            line. The ends of a dash are round and extend half a width into the gaps.
        singular: Word for one, in the strip.
        plural: Word for several.
    """

    colour: Colour
    width: float
    dashes: tuple[float, ...]
    singular: str
    plural: str


STYLES: Mapping[Kind, Style] = {
    Kind.HIT: Style(colour("#0b6bb8"), 1.0, (), "found", "found"),
    Kind.FALSE_ALARM: Style(colour("#b84a00"), 1.0, (3.5, 3.0), "false alarm", "false alarms"),
    Kind.MISS: Style(colour("#7a1f5c"), 1.5, (0.0, 3.5), "missed", "missed"),
    Kind.ID_SWITCH: Style(INK, 1.75, (), "id switch", "id switches"),
    Kind.IGNORED: Style(colour("#6a6d73"), 0.75, (3.5, 3.0, 0.0, 3.0), "ignored", "ignored"),
}

ORDER = (Kind.IGNORED, Kind.HIT, Kind.FALSE_ALARM, Kind.MISS, Kind.ID_SWITCH)
"""Kinds in drawing order: the most important ones cover the others."""

_KIND_OF_OUTCOME = {
    Outcome.TRUE_POSITIVE: Kind.HIT,
    Outcome.FALSE_NEGATIVE: Kind.MISS,
    Outcome.IGNORED: Kind.IGNORED,
}

_KINDS_BY_CODE = np.array(
    [KINDS.index(_KIND_OF_OUTCOME.get(one, Kind.FALSE_ALARM)) for one in OUTCOMES], dtype=np.uint8
)


def kinds_of(outcomes: FlagArray, id_switches: BoolArray) -> FlagArray:
    """(N,) index into `KINDS` of (N,) indices into `vidscore_evaluators.outcome_table.OUTCOMES`."""
    kinds = _KINDS_BY_CODE[outcomes]
    kinds[id_switches & (kinds == KINDS.index(Kind.HIT))] = KINDS.index(Kind.ID_SWITCH)
    return kinds

"""Classes of MOTChallenge by number, as trackeval names them (MOT16, Table 3; MOT20)."""

from __future__ import annotations

PEDESTRIAN = "pedestrian"
CLASSES = (
    PEDESTRIAN,
    "person_on_vehicle",
    "car",
    "bicycle",
    "motorbike",
    "non_mot_vehicle",
    "static_person",
    "distractor",
    "occluder",
    "occluder_on_ground",
    "occluder_full",
    "reflection",
    "crowd",
)
"""Names of the classes, whose numbers begin with 1."""

DISTRACTORS = frozenset(("person_on_vehicle", "static_person", "distractor", "reflection"))
"""Classes that systems may confuse with pedestrians."""

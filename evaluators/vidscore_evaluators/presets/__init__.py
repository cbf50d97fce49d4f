"""Presets: benchmarks by name, as TOML files in this folder; a new file is a new preset.

A preset stands wherever an evaluator's name may, and becomes the evaluators that it lists
(`evaluators_of`). Whatever a benchmark needs is a parameter of evaluators, never code that knows
the preset's name, so that a user's own file can say it as well.
"""

from vidscore_evaluators.presets._document import (
    Preset,
    evaluator_faults,
    read_preset,
    write_preset,
)
from vidscore_evaluators.presets._expansion import (
    create_evaluators,
    evaluators_of,
    find_preset,
    format_of,
    preset_of,
    repeated_evaluators,
    without_files,
)
from vidscore_evaluators.presets._names import broken_plug_ins, is_built_in, preset_names

__all__ = [
    "Preset",
    "broken_plug_ins",
    "create_evaluators",
    "evaluator_faults",
    "evaluators_of",
    "find_preset",
    "format_of",
    "is_built_in",
    "preset_names",
    "preset_of",
    "read_preset",
    "repeated_evaluators",
    "without_files",
    "write_preset",
]

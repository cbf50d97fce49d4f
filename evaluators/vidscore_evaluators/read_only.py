"""Annotations as views that cannot be written to, because several hold the arrays.

An evaluator of a plug-in shares them with other evaluators, and the caller of
`vidscore_evaluators.read` with reports, which may compute digests and warnings from them later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from msgspec import structs

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.masks import Masks

Value = TypeVar("Value")


def read_only(value: Value) -> Value:
    """The same annotations, or aligned sides of these; anything else is returned as it is."""
    viewed: Any = value
    if isinstance(value, Aligned):
        sides = read_only(value.truth), read_only(value.detections)
        viewed = Aligned(*sides, _view(value.listed), _view(value.detected))
    elif isinstance(value, Annotations | Masks):
        columns = {name: _view(column) for name, column in structs.asdict(value).items()}
        viewed = structs.replace(value, **columns)
    return viewed  # type: ignore[no-any-return]  # of the type that was given


def _view(value: Any) -> Any:
    """A field of annotations; an array as a view that cannot be written to."""
    if isinstance(value, np.ndarray):
        view = value.view()
        view.setflags(write=False)
        return view
    if isinstance(value, Mapping):
        return {name: _view(column) for name, column in value.items()}
    return read_only(value)

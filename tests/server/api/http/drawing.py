"""Draws valid and invalid requests from the schemas of the OpenAPI document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

Schema = Mapping[str, Any]

TEXTS = ["", "a", "é", "\0", "NaN", "1", "-0", "1.0", "1e3", "01", " 1", "Infinity", "true", "YQ"]
NUMBERS = [0, 1, -1, 1.0, 1.5, 2**31, 2**32, -(2**31), 2**53, 2**63, -(2**63), 2**64, 1e308, -0.0]
TIMES = ["2026-05-01T12:00:00Z", "2026-05-01T12:00:00.5+01:00", "9999-12-31T23:59:59Z"]
WRONG_TIMES = ["0000-00-00T00:00:00Z", "today", "2026-05-01"]
DURATIONS = ["1s", "1.5s", "-3s", "315576000000s"]
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(NUMBERS),
    st.sampled_from([*TEXTS, *TIMES, *WRONG_TIMES]),
    st.lists(st.sampled_from(NUMBERS), max_size=2),
    st.dictionaries(st.sampled_from(TEXTS), st.sampled_from(NUMBERS), max_size=2),
)
DEEPEST = 4


class Drawing:
    """Draws values from schemas.

    Args:
        document: The OpenAPI document.
        names: Texts that the server knows.
    """

    def __init__(self, document: Schema, names: tuple[str, ...] = ()) -> None:
        self._schemas = document["components"]["schemas"]
        self._texts = [*TEXTS, *names, *names]

    def value(self, draw: st.DrawFn, schema: Schema, wrong: float, depth: int = 0) -> Any:
        """A value of a schema; each part is replaced by anything with probability `wrong`."""
        if wrong and draw(st.floats(0, 1)) < wrong:
            return draw(ANYTHING)
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rpartition("/")[2]]
        return self._inner(draw, schema, wrong, depth)

    def _inner(self, draw: st.DrawFn, schema: Schema, wrong: float, depth: int) -> Any:
        if "anyOf" in schema:
            return self.value(draw, draw(st.sampled_from(schema["anyOf"])), wrong, depth)
        if "enum" in schema:
            return draw(st.sampled_from(schema["enum"]))
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = draw(st.sampled_from(kind))
        if kind == "object":
            return self._object(draw, schema, wrong, depth)
        if kind == "array":
            count = draw(st.integers(0, 3))
            return [self.value(draw, schema["items"], wrong, depth + 1) for _ in range(count)]
        return draw(self._scalar(kind, schema))

    def _scalar(self, kind: object, schema: Schema) -> st.SearchStrategy[Any]:
        if kind == "boolean":
            return st.booleans()
        if kind == "integer":
            return st.sampled_from([0, 1, 2, 7, schema["minimum"], schema["maximum"]])
        if kind == "number":
            return st.sampled_from([*NUMBERS, 0.1, 100.5])
        if "pattern" in schema:
            durations = schema["pattern"].endswith("s$")
            return st.sampled_from(DURATIONS if durations else ["0", "1", "-1", "7", "9" * 18])
        if schema.get("format") == "date-time":
            return st.sampled_from(TIMES)
        if schema.get("contentEncoding"):
            return st.sampled_from(["", "YQ==", "YQ", "-_-_", "+/+/"])
        return st.sampled_from(self._texts)

    def _object(self, draw: st.DrawFn, schema: Schema, wrong: float, depth: int) -> Any:
        known = schema.get("properties", {})
        found: dict[str, Any] = {}
        if known and depth < DEEPEST:
            names = draw(st.lists(st.sampled_from(sorted(known)), unique=True, max_size=6))
            for name in names:
                found[name] = self.value(draw, known[name], wrong, depth + 1)
        further = schema.get("additionalProperties")
        if isinstance(further, Mapping) and draw(st.booleans()):
            found[draw(st.sampled_from(TEXTS))] = self.value(draw, further, wrong, depth + 1)
        if wrong and draw(st.floats(0, 1)) < wrong:
            found[draw(st.sampled_from(TEXTS))] = draw(ANYTHING)
        return found

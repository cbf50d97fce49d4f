"""What is doubtful about a submission, as the store keeps it: texts for its team."""

from __future__ import annotations

from collections.abc import Iterable

import orjson

MAXIMUM_WARNINGS = 20
"""More would not be read, and a submission's record stays small."""

MORE = "there are further doubts of the same kind; they are not listed"


def read_warnings(kept: str) -> list[str]:
    """The texts that a submission's record keeps."""
    texts: list[str] = orjson.loads(kept) if kept else []
    return texts


def with_warnings(kept: str, new: Iterable[str]) -> str:
    """What a record keeps once further texts are there: each once, the first ones of them."""
    known = read_warnings(kept)
    texts = list(dict.fromkeys([*known, *new]))
    if texts == known:
        return kept
    if len(texts) > MAXIMUM_WARNINGS:
        texts = [*texts[: MAXIMUM_WARNINGS - 1], MORE]
    return orjson.dumps(texts).decode()

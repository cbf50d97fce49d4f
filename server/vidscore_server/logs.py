"""Log lines: one JSON object each, and never what a client sent.

An error's text may quote the input, so lines carry its type and the calls that led to it instead.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any

from vidscore_server.errors import WorkFailedError

LOGGER_NAME = "vidscore_server"


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object; `extra={"fields": {...}}` adds to it."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, event and the record's fields."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        return json.dumps(line, ensure_ascii=False, default=str)


def configure_logging(level: str) -> None:
    """Send the server's log lines to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger(LOGGER_NAME)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def log(level: int, event: str, **fields: object) -> None:
    """Write one line."""
    logging.getLogger(LOGGER_NAME).log(level, event, extra={"fields": fields})


def places_of(error: BaseException) -> list[str]:
    """Types of an error and its causes, each with the calls that led to it; none of their texts."""
    places: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        places.append(type(cause).__qualname__)
        frames = traceback.extract_tb(cause.__traceback__)
        places.extend(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
        if isinstance(cause, WorkFailedError):
            places.extend(cause.places)
            break
        cause = cause.__cause__ or cause.__context__
    return places

"""Log lines: one JSON object each, or a line for people; and never what a client sent.

An error's text may quote the input, so lines carry its type and the calls that led to it instead.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
import uuid
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

from vidscore_server.errors import WorkFailedError

LOGGER_NAME = "vidscore_server"

Format = Literal["auto", "json", "text"]
"""How lines are written; ``auto`` is text on a terminal and JSON elsewhere."""

_call: ContextVar[str] = ContextVar("call", default="")


def begin_call() -> None:
    """Give the call that runs an id; every line that it leads to has it."""
    _call.set(uuid.uuid4().hex[:16])


def current_call() -> str:
    """Id of the call that runs; empty outside of calls."""
    return _call.get()


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


class TextFormatter(logging.Formatter):
    """Writes the same as a line for people; what is no plain word stands as JSON, escaped."""

    def format(self, record: logging.LogRecord) -> str:
        """Time of day, level, event and the record's fields."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields: dict[str, Any] = getattr(record, "fields", {})
        words = [f"{name}={_as_word(value)}" for name, value in fields.items()]
        return " ".join([time, f"{record.levelname:<7}", record.getMessage(), *words])


HELPERS_WARNING = "ignore::UserWarning:multiprocessing.resource_tracker"
"""What Python's helper of worker processes says to stderr where their server was killed: that it
frees what is left of it. That is as it should be, and no log line."""


def configure_logging(level: str, format_: Format = "auto") -> None:
    """Send the server's log lines to stderr, and let Python's helpers be silent there."""
    if HELPERS_WARNING not in sys.warnoptions:
        sys.warnoptions.append(HELPERS_WARNING)  # they are started with these options
    handler = logging.StreamHandler(sys.stderr)
    as_text = format_ == "text" or (format_ == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    logger = logging.getLogger(LOGGER_NAME)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False


def log(level: int, event: str, **fields: object) -> None:
    """Write one line; it has the id of the call that led to it, if one did."""
    call = current_call()
    known = {"call_id": call} if call else {}
    logging.getLogger(LOGGER_NAME).log(level, event, extra={"fields": {**fields, **known}})


def _as_word(value: object) -> str:
    text = str(value)
    plain = text.isascii() and text.isprintable() and not set(text) & set(' "=\\')
    return text if text and plain else json.dumps(value, ensure_ascii=True, default=str)


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

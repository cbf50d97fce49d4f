"""Log lines: one JSON object each, or text; never data of a client.

An error's message may quote the input, so lines carry its type and stack instead.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
import uuid
from collections import OrderedDict
from contextvars import ContextVar
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Literal

from vidscore_evaluators.errors import PlugInError
from vidscore_server.errors import WorkFailedError

LOGGER_NAME = "vidscore_server"

Format = Literal["auto", "json", "text"]
"""Format of lines; ``auto`` is text on a terminal and JSON elsewhere."""

_call: ContextVar[str] = ContextVar("call", default="")


def begin_call() -> None:
    """Assign an id to the current call; all its log lines carry it."""
    _call.set(uuid.uuid4().hex[:16])


def current_call() -> str:
    """Id of the current call; empty outside of calls."""
    return _call.get()


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object; `extra={"fields": {...}}` adds keys."""

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
    """Formats a record as a line of text; values other than plain words are escaped as JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Time of day, level, event and the record's fields."""
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields: dict[str, Any] = getattr(record, "fields", {})
        words = [f"{name}={_as_word(value)}" for name, value in fields.items()]
        return " ".join([time, f"{record.levelname:<7}", record.getMessage(), *words])


HELPERS_WARNING = "ignore::UserWarning:multiprocessing.resource_tracker"
"""The resource tracker reports its clean-up after a killed server; that is no log line."""


def configure_logging(level: str, format_: Format = "auto") -> None:
    """Send log lines to stderr, those of libraries too, and silence the resource tracker."""
    if HELPERS_WARNING not in sys.warnoptions:
        sys.warnoptions.append(HELPERS_WARNING)  # the tracker inherits these options
    handler = logging.StreamHandler(sys.stderr)
    as_text = format_ == "text" or (format_ == "auto" and sys.stderr.isatty())
    handler.setFormatter(TextFormatter() if as_text else JsonFormatter())
    logger = logging.getLogger(LOGGER_NAME)
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    logging.lastResort = _OfLibraries(logging.WARNING)


class _OfLibraries(logging.Handler):
    """Writes what libraries log as lines of ours, with places instead of texts, which may quote."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line about a record."""
        places = [f"{record.pathname}:{record.lineno} {record.funcName}"]
        error = record.exc_info and record.exc_info[1]
        places += places_of(error) if error else ()
        # Without free descriptors, asyncio logs each attempt to accept one: thousands a second.
        log_lasting(record.levelno, "library", library=record.name, places=places)


def log(level: int, event: str, **fields: object) -> None:
    """Write one line, with the id of the current call, if any."""
    call = current_call()
    known = {"call_id": call} if call else {}
    logging.getLogger(LOGGER_NAME).log(level, event, extra={"fields": {**fields, **known}})


_LASTING_S = 60.0
"""Time for which a line about a state that lasts is not repeated."""

_lasting: OrderedDict[str, float] = OrderedDict()
"""Such lines and when they were written, oldest first."""

_lasting_lock = threading.Lock()


def log_lasting(level: int, event: str, **fields: object) -> None:
    """Write a line about a state that may last for days, at most once a minute."""
    now_s = monotonic()
    line = repr((event, fields))
    with _lasting_lock:
        while _lasting and now_s - next(iter(_lasting.values())) >= _LASTING_S:
            _lasting.popitem(last=False)
        if line in _lasting:
            return
        _lasting[line] = now_s
    log(level, event, **fields)


def log_incident(error: BaseException) -> tuple[str, str]:
    """Log a bug, without any data; return its incident number, and the text for the client."""
    incident = uuid.uuid4().hex[:16]
    log(logging.ERROR, "incident", incident=incident, places=places_of(error))
    return incident, f"The server failed; its log has details under incident {incident}."


def _as_word(value: object) -> str:
    text = str(value)
    plain = text.isascii() and text.isprintable() and not set(text) & set(' "=\\')
    return text if text and plain else json.dumps(value, ensure_ascii=True, default=str)


def places_of(error: BaseException) -> list[str]:
    """Types and stacks of an error and its causes, without their messages.

    Of a group, the first error is followed: it ended the others.
    """
    places: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        places.append(type(cause).__qualname__)
        if isinstance(cause, PlugInError):
            places.append(f"{cause.what} of {cause.distribution}")
        frames = traceback.extract_tb(cause.__traceback__)
        places.extend(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames)
        if isinstance(cause, WorkFailedError):
            places.extend(cause.places)
            break
        first = cause.exceptions[0] if isinstance(cause, BaseExceptionGroup) else None
        cause = first or cause.__cause__ or cause.__context__
    return places

"""Log lines are JSON objects that name places, and never data."""

from __future__ import annotations

import asyncio
import contextvars
import errno
import io
import json
import logging
import socket
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from sqlalchemy.exc import OperationalError
from tests.server.domain.hosted import hosting
from tests.support.waiting import until

from vidscore_evaluators.errors import PlugInError
from vidscore_server import logs
from vidscore_server.errors import WorkFailedError
from vidscore_server.logs import (
    LOGGER_NAME,
    Format,
    TextFormatter,
    begin_call,
    configure_logging,
    log,
    places_of,
)


def test_a_line_is_one_json_object_with_time_level_event_and_fields(
    capsys: pytest.CaptureFixture[str],
) -> None:
    logger = logging.getLogger(LOGGER_NAME)
    before = (logger.handlers, logger.level, logger.propagate)
    try:
        configure_logging("warning")
        log(logging.INFO, "not this one")
        log(logging.WARNING, "this one", frames=3, name="Stra\u00dfe\n")
    finally:
        logger.handlers, logger.propagate = before[0], before[2]
        logger.setLevel(before[1])

    [text] = capsys.readouterr().err.splitlines()
    line = json.loads(text)
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "warning", "event": "this one", "frames": 3, "name": "Stra\u00dfe\n"}


def test_error_places_have_types_files_and_functions_of_an_error_and_its_cause_but_no_text() -> (
    None
):
    def fail() -> None:
        try:
            raise KeyError("secret")
        except KeyError as error:
            raise ValueError("secret") from error

    with pytest.raises(ValueError, match="secret") as caught:
        fail()

    places = places_of(caught.value)
    assert "ValueError" in places
    assert "KeyError" in places
    assert any("test_logs.py" in place and place.endswith("fail") for place in places)
    assert "secret" not in str(places)


def test_places_name_the_plug_in_whose_function_returned_something_wrong() -> None:
    """No line of the plug-in is in the stack of such an error."""
    error = PlugInError("scores of the evaluator 'toy'", "some-plugin", "x is 'secret' (str)")
    assert places_of(error) == ["PlugInError", "scores of the evaluator 'toy' of some-plugin"]


async def test_places_of_an_error_in_a_task_group_are_those_of_the_error_itself() -> None:
    """Scorings run in such groups: the group's own place says nothing about what went wrong."""

    async def fail() -> None:
        raise WorkFailedError(["RuntimeError", "plug_in.py:7 tables"])

    with pytest.raises(ExceptionGroup) as caught:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(fail())

    places = places_of(caught.value)
    assert places[0] == "ExceptionGroup"
    assert places[-1] == "plug_in.py:7 tables"


@contextmanager
def configured() -> Iterator[None]:
    """Log lines go where those of a server go, and nowhere else."""
    logger = logging.getLogger(LOGGER_NAME)
    before = (logger.handlers, logger.level, logger.propagate)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logging, "lastResort", logging.lastResort)
        patch.setattr(logging.getLogger(), "handlers", [])
        try:
            configure_logging("info", "json")
            yield
        finally:
            logger.handlers, logger.propagate = before[0], before[2]
            logger.setLevel(before[1])


def test_what_a_library_logs_is_a_line_of_ours_without_its_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Such as uvicorn, of bytes that are no HTTP, and asyncio, which quotes errors of tasks."""
    with configured():
        try:
            raise ValueError("secret")
        except ValueError:
            logging.getLogger("some.library").exception("a secret of %s", "red")

    [text] = capsys.readouterr().err.splitlines()
    line = json.loads(text)
    assert (line["level"], line["event"], line["library"]) == ("error", "library", "some.library")
    assert "test_logs.py" in line["places"][0]
    assert line["places"][1] == "ValueError"
    assert "secret" not in text


async def test_a_server_without_free_descriptors_does_not_fill_its_disk_with_lines(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each second, asyncio tries as many times as connections may wait, and logs each time."""

    class Exhausted(socket.socket):
        def accept(self) -> NoReturn:
            raise OSError(errno.EMFILE, "too many open files")

    with configured(), Exhausted() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = await asyncio.start_server(lambda *_: None, sock=listener, backlog=128)
        with socket.create_connection(listener.getsockname()):
            await asyncio.sleep(0.1)
        server.close()
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_lines_of_one_call_share_an_id_that_other_calls_lack(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, LOGGER_NAME)

    def call() -> list[str]:
        begin_call()
        log(logging.INFO, "one")
        log(logging.INFO, "two")
        return [getattr(record, "fields", {})["call_id"] for record in caplog.records[-2:]]

    first, second = (contextvars.Context().run(call) for _ in range(2))
    assert (len(set(first)), len(set(second)), len({*first, *second})) == (1, 1, 2)
    log(logging.INFO, "outside")
    assert getattr(caplog.records[-1], "fields", {}) == {}


async def test_a_state_that_lasts_is_one_line_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as a database that is away: the server asks it each second, for days if need be."""
    passed_s = 0.0
    monkeypatch.setattr(logs, "monotonic", lambda: passed_s)
    asked = 0

    def away(_: object) -> None:
        nonlocal asked
        asked += 1
        raise OperationalError("SELECT", None, sqlite3.OperationalError("disk I/O error"))

    async with hosting(tmp_path, upkeep_interval_ms=10) as hosted:
        monkeypatch.setattr(hosted.hosting.scheduler, "_unfinished", away)
        for minute in (1, 2):
            passed_s, wanted = minute * 60.0, asked + 10
            caplog.clear()
            await until(lambda: asked > wanted)  # noqa: B023 - it has ended when the loop goes on
            lines = [record.getMessage() for record in caplog.records]
            assert sorted(lines) == ["database failed", "upkeep failed"]


def _text(**fields: object) -> str:
    record = logging.makeLogRecord({"levelname": "INFO", "msg": "call", "fields": fields})
    return TextFormatter().format(record).partition("INFO")[2]


def test_a_line_for_people_shows_words_unchanged_and_escapes_the_rest() -> None:
    assert _text(code="OK", duration_ms=1.5) == "    call code=OK duration_ms=1.5"
    assert _text(a="two words") == '    call a="two words"'
    assert _text(a="", b='"', c="x=1") == '    call a="" b="\\"" c="x=1"'
    assert _text(a="line\nnext\x1b[31m") == '    call a="line\\nnext\\u001b[31m"'
    assert _text(a=["x", 1]) == '    call a=["x", 1]'


@pytest.mark.parametrize(
    ("format_", "on_a_terminal", "as_json"),
    [("auto", True, False), ("auto", False, True), ("json", True, True), ("text", False, False)],
)
def test_lines_are_for_people_on_a_terminal_and_json_elsewhere_by_default(
    monkeypatch: pytest.MonkeyPatch, format_: Format, on_a_terminal: bool, as_json: bool
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(stderr, "isatty", lambda: on_a_terminal)
    monkeypatch.setattr(sys, "stderr", stderr)
    logger = logging.getLogger(LOGGER_NAME)
    before = (logger.handlers, logger.level, logger.propagate)
    try:
        configure_logging("info", format_)
        log(logging.INFO, "stopped")
    finally:
        logger.handlers, logger.propagate = before[0], before[2]
        logger.setLevel(before[1])
    assert stderr.getvalue().startswith("{") == as_json

"""Log lines are JSON objects that say where, and never what."""

from __future__ import annotations

import json
import logging

import pytest

from vidscore_server.logs import LOGGER_NAME, configure_logging, log, places_of


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


def test_places_name_types_files_and_functions_of_an_error_and_its_cause_but_no_text() -> None:
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

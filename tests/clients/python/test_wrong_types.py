"""Arguments of a wrong type raise errors of this package that name them, and no others."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import numpy as np
import pytest
from tests.clients.python.streaming import BOX

from vidscore_client import (
    Batching,
    Delivery,
    Frames,
    InputError,
    Keepalive,
    Live,
    Masks,
    Retry,
    Tls,
    connect,
)
from vidscore_client._outbox import SingleFrame

WRONG: list[Any] = [
    5,
    1.5,
    b"x",
    True,
    ["w"],
    [5],
    [None],
    {1: 2},
    [("a", "b", "c")],
    [[1], [1, 2]],
    object(),
    10**400,
    10**5000,
    [10**5000],
    float("nan"),
]
SETTINGS = [Batching, Delivery, Keepalive, Live, Retry]


def _named(name: str, make: Any, **arguments: Any) -> None:
    """Accepted values are right by chance; every other value must be named."""
    refusal: InputError | None = None
    try:
        made = make(**arguments)
    except InputError as error:
        refusal = error
    else:
        if hasattr(made, "close"):
            made.close()
    if refusal is not None:
        assert refusal.argument.partition("[")[0].partition(".")[0] == name
        assert len(str(refusal)) < 500


def _frames(**changes: Any) -> Frames:
    fitting: dict[str, Any] = {
        "sequences": [("", "a")],
        "frame_sequences": [0],
        "frame_numbers": [0],
        "frame_starts": [0, 1],
        "coordinates": BOX,
    }
    return Frames(**{**fitting, **changes})


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_columns_of_a_wrong_type_are_named(wrong: Any) -> None:
    for column in dataclasses.fields(Frames):
        if column.name in {"frame_numbers", "coordinates"}:
            # The error may be about another column of a different length.
            with contextlib.suppress(InputError):
                _frames(**{column.name: wrong})
        else:
            _named(column.name, _frames, **{column.name: wrong})


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_arguments_of_a_frame_of_a_wrong_type_are_named(wrong: Any) -> None:
    def send(**arguments: Any) -> SingleFrame:
        fitting = {"sequence": "a", "frame": 0, "coordinates": BOX}
        return SingleFrame.of(4, **{**fitting, **arguments})

    for name in (
        *("sequence", "frame", "coordinates", "labels", "confidences", "track_ids", "flags"),
        *("domain", "time_s", "masks"),
    ):
        _named(name, send, **{name: wrong})


@pytest.mark.parametrize("wrong", [None, *WRONG], ids=lambda wrong: type(wrong).__name__)
def test_settings_of_a_wrong_type_are_named(wrong: Any) -> None:
    for kind in SETTINGS:
        for setting in dataclasses.fields(kind):
            if setting.name in {"on_report", "on_acknowledged", "summary_only", "unary"}:
                continue
            fitting = {"every_s": 1.0, "every_frames": 1} if kind is Live else {}
            _named(setting.name, kind, **{**fitting, setting.name: wrong})


@pytest.mark.parametrize("wrong", [None, *WRONG], ids=lambda wrong: type(wrong).__name__)
def test_connection_settings_of_a_wrong_type_are_named(wrong: Any) -> None:
    for name in ("timeout_s", "tls", "token", "keepalive", "target"):
        given = {"target": "127.0.0.1:1", name: wrong}
        _named(name, connect, **given)
    certificates = Tls(root_certificates=wrong)
    _named("root_certificates", connect, target="127.0.0.1:1", tls=certificates)


@pytest.mark.parametrize(
    "wrong", ["5", b"x", True, 10**400, float("nan")], ids=lambda wrong: type(wrong).__name__
)
def test_arguments_of_waits_of_a_wrong_type_are_named(wrong: Any) -> None:
    with connect("127.0.0.1:1") as client:

        def watch(name: str, **arguments: Any) -> object:
            return next(client.submissions.watch(name, **arguments))

        for name, call in (
            ("timeout_s", client.submissions.wait),
            ("window_frames", watch),
            ("expected_frame_count", client.submissions.seal),
        ):
            with pytest.raises(InputError, match=rf"^{name}: found "):
                call("a/b", **{name: wrong})


def test_numbers_beyond_64_bits_are_reported_as_such() -> None:
    with pytest.raises(InputError, match=r"^every_frames: found 9\d+, expected a 64-bit integer$"):
        Live(every_frames=2**63)


@pytest.mark.parametrize("wrong", [None, *WRONG], ids=lambda wrong: type(wrong).__name__)
def test_masks_of_a_wrong_type_are_named(wrong: Any) -> None:
    fitting: dict[str, Any] = {"sizes": [[2, 2]], "starts": [0, 1], "runs": [4]}
    for name in fitting:
        _named("masks", Masks, **{**fitting, name: wrong})
    _named("masks", Masks.of, entries=wrong)


def test_names_of_sequences_may_be_an_array() -> None:
    assert _frames(sequences=np.array([["", "a"]])).frame_count == 1


def test_settings_accept_numpy_numbers() -> None:
    given: dict[str, Any] = {"batch_frames": np.int64(3), "block_timeout_s": np.float32(2.0)}
    assert Batching(**given).batch_frames == 3


def test_labels_that_are_not_a_list_and_times_that_are_not_numbers_are_reported_as_such() -> None:
    with pytest.raises(InputError, match=r"^labels: found 5, expected 1 string, one for each obj"):
        SingleFrame.of(4, "a", 0, BOX, labels=5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^timeout_s: found None, expected a number of more than"):
        connect("127.0.0.1:1", timeout_s=None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^sequences\[0\]: found 'w', expected \(domain, sequ"):
        _frames(sequences=["w"])

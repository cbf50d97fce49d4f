"""Numbers with what they count."""

from __future__ import annotations

import pytest

from vidscore_server.wording import are, counted


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 frames are"), (1, "1 frame is"), (2, "2 frames are")]
)
def test_one_thing_is_and_several_are(count: int, text: str) -> None:
    assert f"{counted(count, 'frame')} {are(count)}" == text

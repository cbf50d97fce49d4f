"""Pictures are read back from files and videos as they were written."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.evaluators.render.scenes import grey

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.render.style import PAPER, Image
from vidscore_evaluators.render.writers import FolderWriter, VideoWriter, fitted, picture_file

KEY = SequenceKey("Tower", "street")


def frames_of(path: Path) -> list[Image]:
    capture = cv2.VideoCapture(str(path))
    found: list[Image] = []
    while True:
        decoded, image = capture.read()
        if not decoded:
            return found
        found.append(image.astype(np.uint8))


def test_a_video_has_the_frames_that_were_written_in_their_size(tmp_path: Path) -> None:
    path = tmp_path / "out.mp4"
    with VideoWriter(path, 10.0) as writer:
        for number in range(7):
            writer.write(KEY, number, np.full((48, 64, 3), 30 * number, dtype=np.uint8))
    found = frames_of(path)
    assert [image.shape for image in found] == [(48, 64, 3)] * 7
    assert np.allclose([image.mean() for image in found], 30 * np.arange(7), atol=4)
    assert cv2.VideoCapture(str(path)).get(cv2.CAP_PROP_FPS) == 10.0


def test_a_picture_of_another_size_is_fitted_into_the_video(tmp_path: Path) -> None:
    path = tmp_path / "out.mp4"
    with VideoWriter(path, 10.0) as writer:
        writer.write(KEY, 0, grey(64, 48))
        writer.write(KEY, 1, grey(200, 20))
    assert [image.shape for image in frames_of(path)] == [(48, 64, 3)] * 2


def test_a_fitted_picture_keeps_its_proportions() -> None:
    """100 by 50 in 40 by 40 is 40 by 20, in the middle."""
    found = fitted(np.zeros((50, 100, 3), dtype=np.uint8), 40, 40)
    assert (found[10:30] == 0).all()
    assert (found[:10] == PAPER).all()
    assert (found[30:] == PAPER).all()


def test_pictures_too_large_for_a_video_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(InputError, match=r"70000 x 2 pixels.*--scale"),
        VideoWriter(tmp_path / "out.mp4", 10.0) as writer,
    ):
        writer.write(KEY, 0, grey(70_000, 2))


@pytest.mark.parametrize(("image_format", "suffix"), [("png", "png"), ("jpeg", "jpg")])
def test_pictures_are_files_by_sequence_and_frame(
    tmp_path: Path, image_format: str, suffix: str
) -> None:
    FolderWriter(tmp_path, image_format).write(KEY, 12, grey(8, 6))
    path = tmp_path / "Tower" / "street" / f"000012.{suffix}"
    read = cv2.imread(str(path))
    assert read is not None
    assert read.tolist() == grey(8, 6).tolist()


def test_a_sequence_may_have_no_name_but_none_that_leads_elsewhere() -> None:
    assert picture_file(SequenceKey("", ""), 3, "png") == "000003.png"
    with pytest.raises(InputError, match="a name that a file can have"):
        picture_file(SequenceKey("", "../street"), 3, "png")

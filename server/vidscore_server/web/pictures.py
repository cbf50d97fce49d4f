"""Pictures of frames as JPEG, out of a video, a folder of images, or a folder of either."""

from __future__ import annotations

from typing import Protocol


class Pictures(Protocol):
    """Pictures of frames, by the name of a sequence and the number of a frame."""

    def has(self, sequence: str, number: int) -> bool:
        """Whether there is a picture of a frame."""

    def size(self, sequence: str) -> tuple[float, float] | None:
        """Width and height of the pictures of a sequence; None where there are none."""

    def jpeg(self, sequence: str, number: int, most_bytes: int | None = None) -> bytes | None:
        """A picture; None where there is none.

        Args:
            sequence: Name of the sequence.
            number: Number of the frame.
            most_bytes: Size that it is made to fit into, smaller and coarser; None for any.
        """

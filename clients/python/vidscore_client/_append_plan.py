"""What an append stream was asked to be, checked; shared by both kinds of streams."""

from __future__ import annotations

from dataclasses import dataclass

from vidscore_client._append_state import AppendState
from vidscore_client._submission_operations import OpenedStream, refuse_other_arity
from vidscore_client.errors import InputError
from vidscore_client.frames import Frames
from vidscore_client.hosting import StreamInfo, Submission
from vidscore_client.settings import Batching, Delivery


@dataclass(frozen=True)
class AppendPlan:
    """An append stream that was opened, and how frames are delivered into it.

    Attributes:
        opened: The stream.
        batching: How frames are put together.
        delivery: How they are held until they are acknowledged.
        replay: Whether the caller sends from its first frame again.
    """

    opened: OpenedStream
    batching: Batching
    delivery: Delivery
    replay: bool

    def new_state(self) -> AppendState:
        """The state to begin with."""
        return AppendState(self.opened.stream, self.batching, self.delivery, replay=self.replay)

    def find_stream(self, submission: Submission) -> StreamInfo | None:
        """This stream as the server knows it now; None where it does not."""
        return submission.stream(self.opened.stream.stream)

    def check_batch(self, frames: Frames) -> None:
        """Refuse a batch that does not belong to this stream.

        Raises:
            InputError: If it is none, or its objects have another shape.
        """
        if not isinstance(frames, Frames):
            raise InputError("frames", repr(frames)[:80], "Frames")
        refuse_other_arity(frames, self.opened.arity)

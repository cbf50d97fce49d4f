"""What nobody holds any more is ended, on a thread of its own.

The garbage collector finds it in any thread and at any moment, while that thread holds a lock of
grpc's, of the threading module's or of ours. To end a stream takes such locks, so that a thread
could wait for itself for ever. All that is done there is to put it into a queue, which is made for
that: `SimpleQueue.put` may interrupt itself.
"""

from __future__ import annotations

import atexit
import logging
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

End = Callable[[], object]

_LOGGER = logging.getLogger("vidscore_client")
_forgotten: SimpleQueue[End] = SimpleQueue()
_open: dict[int, End] = {}
_lock = threading.Lock()
_thread: threading.Thread | None = None


class Ending:
    """Ends something once: when it is called, when the owner is forgotten, or with the program.

    Args:
        owner: Whoever the thing belongs to.
        end: Ends it; must not hold the owner.
    """

    def __init__(self, owner: object, end: End) -> None:
        """Watch the owner from now on."""
        _start()
        self._end = end
        _open[id(end)] = end
        self._finalizer = weakref.finalize(owner, _forget, id(end))
        self._finalizer.atexit = False

    @property
    def has_come(self) -> bool:
        """Whether it has been ended, or is about to be."""
        return id(self._end) not in _open

    def __call__(self) -> None:
        """End it, unless that has been done."""
        end = _open.pop(id(self._end), None)
        if end is not None:
            self._finalizer.detach()
            end()


def _forget(key: int) -> None:
    end = _open.pop(key, None)  # there is none when the interpreter has ended it
    if end is not None:
        _forgotten.put(end)


def _start() -> None:
    """Have a thread that ends what is forgotten; after a fork, there is none."""
    global _thread  # noqa: PLW0603 - one for the process
    with _lock:
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_end_forgotten, name="forgotten", daemon=True)
            _thread.start()


def _end_forgotten() -> None:
    while True:
        _try(_forgotten.get())


@atexit.register
def end_all() -> None:
    """What is still open when the interpreter ends: the newest first, which stand on the others."""
    for key in reversed(list(_open)):
        end = _open.pop(key, None)  # there is none when it was ended meanwhile
        if end is not None:
            _try(end)


def _try(end: End) -> None:
    """What cannot be ended must not keep the rest open."""
    try:
        end()
    except Exception:
        _LOGGER.exception("what was forgotten could not be ended")

"""The folder of this process in which uploaded files wait between check and submission.

Only the browser that has sent a file needs it, and can send it again. So the folder is removed at
stop, and folders of dead processes are removed at the next start.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any
from weakref import WeakValueDictionary

from msgspec import Struct, field
from starlette.datastructures import UploadFile

from vidscore_server.web.site.service import ServiceError

CHUNK_BYTES = 4 << 20
"""Size of the pieces that a script sends, in bytes."""

MOST_READ_AT_ONCE = 2
"""Maximum number of files in memory at once."""

KEPT_S = 24 * 3600.0
MOST_OF_TEAM = 8
MOST_IN_ALL = 200
"""Maximum number of waiting files, of one team and of all."""

SHARE_OF_TEAM = 2
SHARE_OF_ALL = 8
"""Maximum waiting bytes, of one team and of all, as multiples of the maximum size of a file."""

MOST_NAME_LETTERS = 60
FOLDER_PREFIX = "vidscore-uploads-"
LOCK = "lock"

FULL = "UPLOADS_FULL"
"""Reason of a refusal: no room is left."""

GONE = "UPLOAD_GONE"
"""Reason of a refusal: a file no longer waits."""

_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]")


class Typed(Struct, frozen=True):
    """The fields that a visitor has typed about a file.

    Attributes:
        input_format: Name of its format, or ``auto``.
        confidence_scale: Mapping of its confidences; empty for none.
        name: Last part of the submission's name; empty to let the server choose.
        title: Its title.
    """

    input_format: str = "auto"
    confidence_scale: str = ""
    name: str = ""
    title: str = ""


class UploadLimits(Struct, frozen=True):
    """Limits of uploads.

    Attributes:
        maximum_bytes: Maximum size of a file.
        batch_frames: Maximum frames of one call.
        batch_objects: Maximum objects of one call.
        maximum_frames: Maximum frames of one submission.
        reading_bytes: Maximum memory for reading a file.
    """

    maximum_bytes: int = 2 << 30
    batch_frames: int = 4096
    batch_objects: int = 8192
    maximum_frames: int = 1_000_000
    reading_bytes: int = 2 << 30


class FileFacts(Struct, frozen=True):
    """A file, as described by the browser that sends it.

    Attributes:
        name: Its name.
        size: Its bytes.
        modified: Time of its last change, as text of the browser; a changed file counts as another
            one.
    """

    name: str
    size: int
    modified: str = ""


class Upload(Struct, eq=False):
    """A file in transfer, or waiting.

    Attributes:
        upload: Its random id.
        owner: Session of the browser that sends it.
        team: The team that it is counted for.
        benchmark: Resource name of the benchmark.
        file: The file.
        typed: The fields typed about it.
        path: Its path.
        begin_s: Time of its start, by the spool's clock.
        received: Number of received bytes.
        submission: Resource name of its submission, or path of its revision of the truth; empty
            before.
        frames: Frames to send.
        work: Tasks on it, by kind.
        failure: Why sending stopped; None if it did not.
    """

    upload: str
    owner: str
    team: str
    benchmark: str
    file: FileFacts
    typed: Typed
    path: Path
    begin_s: float
    received: int = 0
    submission: str = ""
    frames: int = 0
    work: dict[str, asyncio.Task[Any]] = field(default_factory=dict)
    failure: ServiceError | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def whole(self) -> bool:
        """Whether all of it was received."""
        return self.received == self.file.size

    @property
    def url(self) -> str:
        """Path of its page."""
        return f"/{self.benchmark}/uploads/{self.upload}"


class Spool:
    """Keeps uploaded files.

    Args:
        limits: How much is taken.
        clock: Monotonic seconds.

    Attributes:
        limits: How much is taken.
    """

    def __init__(
        self,
        limits: UploadLimits = UploadLimits(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits = limits
        self._readers = asyncio.Semaphore(MOST_READ_AT_ONCE)
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._clock = clock
        self._folder: Path | None = None
        self._held: int | None = None
        self._uploads: dict[str, Upload] = {}
        self._coming: dict[object, tuple[str, int]] = {}

    @contextmanager
    def coming(self, team: str, size: int) -> Iterator[None]:
        """Hold room on the disk for a file during the transfer of its form.

        Args:
            team: The team that it is counted for.
            size: Maximum bytes; 0 if unknown.

        Raises:
            ServiceError: If too much waits.
        """
        most = self.limits.maximum_bytes
        size = min(size or most, most)
        self._tidy()
        self._refuse(team, FileFacts("", size))
        mark = object()
        self._coming[mark] = team, size
        try:
            yield
        finally:
            del self._coming[mark]

    def begin(self, owner: str, team: str, benchmark: str, file: FileFacts, typed: Typed) -> Upload:
        """Reserve room for a file, or find the upload that the same browser has begun.

        Args:
            owner: The session of the browser.
            team: Its team.
            benchmark: Resource name of the benchmark.
            file: The file.
            typed: The fields typed about it.

        Raises:
            ServiceError: If the file is empty or too large, or too much waits.
        """
        self._tidy()
        owner = _digest(owner)
        for found in self._uploads.values():
            key = (found.owner, found.benchmark, found.file)
            if key == (owner, benchmark, file) and file.modified and not found.submission:
                if found.typed != typed and (before := found.work.pop("check", None)):
                    before.cancel()  # it was read with other settings
                found.typed = typed
                return found
        self._refuse(team, file)
        name = secrets.token_hex(16)
        place = self._root() / name
        place.mkdir(mode=0o700)
        path = place / safe_name(file.name)
        path.touch(mode=0o600)
        made = Upload(name, owner, team, benchmark, file, typed, path, self._clock())
        self._uploads[name] = made
        return made

    def find(self, upload: str, owner: str, benchmark: str) -> Upload:
        """An upload of a visitor.

        Raises:
            ServiceError: If the visitor has none of that id.
        """
        self._tidy()
        found = self._uploads.get(upload)
        if found is None or (found.owner, found.benchmark) != (_digest(owner), benchmark):
            raise ServiceError(
                "NOT_FOUND",
                GONE,
                "This file is no longer here: it was submitted, made a revision or "
                "removed, you have signed in again, a day has passed, or the server was "
                "restarted. Choose it again if you still need it; frames that were submitted "
                "are not lost.",
            )
        return found

    def waiting(self, owner: str, benchmark: str) -> list[Upload]:
        """Waiting files of a visitor, newest first."""
        self._tidy()
        own = (_digest(owner), benchmark)
        found = [
            entry
            for entry in self._uploads.values()
            if (entry.owner, entry.benchmark) == own and not entry.submission
        ]
        return found[::-1]

    def of_submission(self, submission: str) -> Upload | None:
        """The newest file that was, or is being, sent into a submission."""
        found = [entry for entry in self._uploads.values() if entry.submission == submission]
        return found[-1] if found else None

    async def append(self, upload: Upload, offset: int, chunks: AsyncIterable[bytes]) -> int:
        """Append to a file, and return its number of received bytes.

        Args:
            upload: The file.
            offset: Offset of the bytes; they are dropped if it is not the file's end.
            chunks: The bytes.

        Raises:
            ServiceError: If they exceed the file's size.
        """
        async with upload.lock:
            if offset != upload.received:
                return upload.received
            async for chunk in chunks:
                if upload.received + len(chunk) > upload.file.size:
                    raise _wrong("more bytes arrived than the file has; choose it again")
                if chunk:
                    await asyncio.to_thread(_write, upload.path, upload.received, chunk)
                    upload.received += len(chunk)
            return upload.received

    @asynccontextmanager
    async def reader(self, team: str) -> AsyncIterator[None]:
        """Wait for a place to read a file; at most one per team.

        Args:
            team: The team that the file counts for.
        """
        lock = self._reading.setdefault(team, asyncio.Lock())
        async with lock, self._readers:
            yield

    def discard(self, upload: Upload) -> None:
        """Discard a file."""
        self._uploads.pop(upload.upload, None)
        for task in upload.work.values():
            task.cancel()
        upload.work.clear()
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    def start(self) -> None:
        """Remove folders of dead processes."""
        for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
            with suppress(OSError):  # another server may have removed it
                if folder.stat().st_uid == os.getuid() and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    async def stop(self) -> None:
        """Stop all work on files, and remove them."""
        tasks = [task for entry in self._uploads.values() for task in entry.work.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._uploads.clear()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
        self._folder = self._held = None

    def _root(self) -> Path:
        """The folder, created with the first file, and locked while this process lives."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
            self._held = os.open(self._folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return self._folder

    def _refuse(self, team: str, file: FileFacts) -> None:
        if file.size < 1:
            raise _wrong("the file is empty; choose another one")
        if file.size > self.limits.maximum_bytes:
            most = self.limits.maximum_bytes
            raise _wrong(
                f"the file has {file.size:,} bytes, at most {most:,} are taken "
                "(maximum_web_upload_bytes); pack it as zip or gzip, or submit it with "
                "vidscore submit"
            )
        every = [(entry.team, entry.file.size) for entry in self._uploads.values()]
        every += self._coming.values()
        own = [size for whose, size in every if whose == team]
        for sizes, most, share in (
            (own, MOST_OF_TEAM, SHARE_OF_TEAM),
            ([size for _, size in every], MOST_IN_ALL, SHARE_OF_ALL),
        ):
            held = sum(sizes)
            if len(sizes) >= most or held + file.size > share * self.limits.maximum_bytes:
                whose = "of your team" if sizes is own else "of all teams"
                raise ServiceError(
                    "RESOURCE_EXHAUSTED",
                    FULL,
                    f"{len(sizes)} files {whose} wait here, with {held:,} bytes: remove one that "
                    "is not needed, or submit with vidscore submit.",
                )

    def _tidy(self) -> None:
        """Discard files that have waited too long."""
        before = self._clock() - KEPT_S
        for entry in [one for one in self._uploads.values() if one.begin_s < before]:
            self.discard(entry)


async def chunks_of(file: UploadFile) -> AsyncIterator[bytes]:
    """A file from a form, piece by piece."""
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk


def safe_name(name: str) -> str:
    """The name of a file without its path, safe for a folder and a page."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = _UNSAFE.sub("_", last).lstrip(".")
    encoded = plain.encode("utf-8", "replace").decode()
    if len(encoded) > MOST_NAME_LETTERS:
        encoded = encoded[-MOST_NAME_LETTERS:]  # the suffix matters more than the beginning
    return encoded.strip() or "detections"


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode()).hexdigest()


def _write(path: Path, offset: int, data: bytes) -> None:
    try:
        with path.open("r+b") as file:
            file.seek(offset)
            file.write(data)
    except OSError as error:
        raise ServiceError(
            "RESOURCE_EXHAUSTED",
            FULL,
            f"The server cannot store the file ({error.strerror or 'no reason given'}); the part "
            "that has arrived is kept. Continue later, or submit with vidscore submit.",
        ) from None


def _is_left(folder: Path) -> bool:
    """Whether no process holds a folder any more."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False  # it is just being created, or is not ours
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
    finally:
        os.close(descriptor)


def _wrong(text: str) -> ServiceError:
    return ServiceError("INVALID_ARGUMENT", "INPUT", f"{text[0].upper()}{text[1:]}.")

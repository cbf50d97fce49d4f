"""Where uploaded files wait between their check and their submission: a folder of this process.

Nothing in it is needed by anybody but the browser that has sent it, and that can send it again. So
it is removed at stop, and what a process that died has left is removed at the next start.
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
"""Bytes that a script sends at a time."""

MOST_READ_AT_ONCE = 2
"""Files that are in memory at once."""

KEPT_S = 24 * 3600.0
MOST_OF_TEAM = 8
MOST_IN_ALL = 200
"""Files that wait, of one team and of all."""

SHARE_OF_TEAM = 2
SHARE_OF_ALL = 8
"""Bytes that wait, of one team and of all, in files of the largest size."""

MOST_NAME_LETTERS = 60
FOLDER_PREFIX = "vidscore-uploads-"
LOCK = "lock"

FULL = "UPLOADS_FULL"
"""Reason of a refusal: no room is left."""

GONE = "UPLOAD_GONE"
"""Reason of a refusal: a file does not wait any more."""

_UNSAFE = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]")


class Typed(Struct, frozen=True):
    """What a visitor has typed about a file.

    Attributes:
        input_format: Name of its format, or ``auto``.
        confidence_scale: How its confidences are mapped; empty if they are not.
        name: Last part of the submission's name; empty if the server chooses.
        title: Its title.
    """

    input_format: str = "auto"
    confidence_scale: str = ""
    name: str = ""
    title: str = ""


class UploadLimits(Struct, frozen=True):
    """How much is taken.

    Attributes:
        maximum_bytes: Size of the largest file.
        batch_frames: Frames of one call.
        batch_objects: Objects of one call.
        maximum_frames: Frames of one submission.
        reading_bytes: Memory that reading a file may take.
    """

    maximum_bytes: int = 2 << 30
    batch_frames: int = 4096
    batch_objects: int = 8192
    maximum_frames: int = 1_000_000
    reading_bytes: int = 2 << 30


class FileFacts(Struct, frozen=True):
    """A file, as the browser that sends it describes it.

    Attributes:
        name: Its name.
        size: Its bytes.
        modified: When it was changed, in the browser's own words; a changed file is another one.
    """

    name: str
    size: int
    modified: str = ""


class Upload(Struct, eq=False):
    """A file on its way, or waiting.

    Attributes:
        upload: Its random id.
        owner: Whose browser sends it.
        team: The team that it counts for.
        benchmark: Resource name of the benchmark.
        file: The file.
        typed: What was typed about it.
        path: Where it is.
        begin_s: When it began, by the spool's clock.
        received: Bytes that are there.
        submission: Resource name of the submission that it went into; empty before.
        frames: Frames that go there.
        work: What is done with it, by kind.
        failure: Why sending it stopped; None if it did not.
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
        """Whether all of it is there."""
        return self.received == self.file.size

    @property
    def url(self) -> str:
        """Path of its page."""
        return f"/{self.benchmark}/uploads/{self.upload}"


class Spool:
    """Keeps uploaded files.

    Args:
        limits: How much is taken.
        clock: Seconds that only go on.

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
        """Hold room for a file while the form that has it comes, which is kept on the disk.

        Args:
            team: The team that it counts for.
            size: Bytes that it may have; 0 if nothing is known of it.

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
        """Make room for a file, or find the one that the same browser has begun to send.

        Args:
            owner: The session of the browser.
            team: Its team.
            benchmark: Resource name of the benchmark.
            file: The file.
            typed: What was typed about it.

        Raises:
            ServiceError: If the file is empty or too large, or too much waits.
        """
        self._tidy()
        owner = _digest(owner)
        for found in self._uploads.values():
            key = (found.owner, found.benchmark, found.file)
            if key == (owner, benchmark, file) and file.modified and not found.submission:
                if found.typed != typed and (before := found.work.pop("check", None)):
                    before.cancel()  # it was read otherwise
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
            ServiceError: If it has none of that id.
        """
        self._tidy()
        found = self._uploads.get(upload)
        if found is None or (found.owner, found.benchmark) != (_digest(owner), benchmark):
            raise ServiceError(
                "NOT_FOUND",
                GONE,
                "This file does not wait here any more: it was submitted, made a revision or "
                "removed, you have signed in again, a day has passed, or the server was started "
                "again. Choose it once more if it is still to count; frames that were submitted "
                "are not lost.",
            )
        return found

    def waiting(self, owner: str, benchmark: str) -> list[Upload]:
        """Files of a visitor that wait, newest first."""
        self._tidy()
        own = (_digest(owner), benchmark)
        found = [
            entry
            for entry in self._uploads.values()
            if (entry.owner, entry.benchmark) == own and not entry.submission
        ]
        return found[::-1]

    def of_submission(self, submission: str) -> Upload | None:
        """The newest file that went, or goes, into a submission."""
        found = [entry for entry in self._uploads.values() if entry.submission == submission]
        return found[-1] if found else None

    async def append(self, upload: Upload, offset: int, chunks: AsyncIterable[bytes]) -> int:
        """Add to a file, and give the bytes that are there; what cannot be added is left.

        Args:
            upload: The file.
            offset: Where the bytes begin; they are dropped where that is not the file's end.
            chunks: The bytes.

        Raises:
            ServiceError: If they are more than the file has.
        """
        async with upload.lock:
            if offset != upload.received:
                return upload.received
            async for chunk in chunks:
                if upload.received + len(chunk) > upload.file.size:
                    raise _wrong("more bytes came than the file has; choose it again")
                if chunk:
                    await asyncio.to_thread(_write, upload.path, upload.received, chunk)
                    upload.received += len(chunk)
            return upload.received

    @asynccontextmanager
    async def reader(self, team: str) -> AsyncIterator[None]:
        """Wait for a place to read a file; a team has one at most.

        Args:
            team: The team that the file counts for.
        """
        lock = self._reading.setdefault(team, asyncio.Lock())
        async with lock, self._readers:
            yield

    def discard(self, upload: Upload) -> None:
        """Forget a file."""
        self._uploads.pop(upload.upload, None)
        for task in upload.work.values():
            task.cancel()
        upload.work.clear()
        shutil.rmtree(upload.path.parent, ignore_errors=True)

    def start(self) -> None:
        """Remove what processes that are gone have left."""
        for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
            with suppress(OSError):  # another server may remove it first
                if folder.stat().st_uid == os.getuid() and _is_left(folder):
                    shutil.rmtree(folder, ignore_errors=True)

    async def stop(self) -> None:
        """Stop all work with files, and remove them."""
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
        """The folder, which is there from the first file on, and locked as long as we live."""
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
        """Forget what has waited too long."""
        before = self._clock() - KEPT_S
        for entry in [one for one in self._uploads.values() if one.begin_s < before]:
            self.discard(entry)


async def chunks_of(file: UploadFile) -> AsyncIterator[bytes]:
    """A file out of a form, piece by piece."""
    while chunk := await file.read(CHUNK_BYTES):
        yield chunk


def safe_name(name: str) -> str:
    """The name of a file without any path, as it can stand in a folder and on a page."""
    last = PurePosixPath(name.replace("\\", "/")).name
    plain = _UNSAFE.sub("_", last).lstrip(".")
    encoded = plain.encode("utf-8", "replace").decode()
    if len(encoded) > MOST_NAME_LETTERS:
        encoded = encoded[-MOST_NAME_LETTERS:]  # its suffix says more than its beginning
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
            f"The server cannot keep the file ({error.strerror or 'no reason given'}); what has "
            "come of it is kept. Go on later, or submit with vidscore submit.",
        ) from None


def _is_left(folder: Path) -> bool:
    """Whether nobody holds a folder any more."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR)
    except OSError:
        return False  # it is being made just now, or is none of ours
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False
    finally:
        os.close(descriptor)


def _wrong(text: str) -> ServiceError:
    return ServiceError("INVALID_ARGUMENT", "INPUT", f"{text[0].upper()}{text[1:]}.")

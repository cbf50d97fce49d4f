"""Files that organisers upload: bounded, under a harmless name, in a folder that goes away."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.datastructures import UploadFile

from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

MOST_FILE_BYTES = 2 << 30
MOST_NAME_CHARACTERS = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def refuse_large(visit: Visit, most_bytes: int) -> None:
    """Refuse a form that says that it is too large, or does not say its size.

    Args:
        visit: The request.
        most_bytes: How large it may be.

    Raises:
        ServiceError: If it is refused.
    """
    length = visit.request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit():
        raise ServiceError(
            "INVALID_ARGUMENT", "NO_LENGTH", "The upload does not say how large it is."
        )
    if int(length) > most_bytes:
        raise ServiceError(
            "RESOURCE_EXHAUSTED",
            "LIMIT_EXCEEDED",
            f"The upload has {int(length):,} bytes; at most {most_bytes:,} are taken.",
        )


@asynccontextmanager
async def kept(file: UploadFile) -> AsyncIterator[Path]:
    """A file that was uploaded, in a folder of its own, as long as the block runs.

    Args:
        file: The file.
    """
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="vidscore-upload-"))
    try:
        path = folder / safe_name(file.filename or "")
        await asyncio.to_thread(_write, file, path)
        yield path
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def safe_name(name: str) -> str:
    """A file's own name without folders and anything that could surprise.

    Args:
        name: The name that a browser gives.
    """
    last = re.split(r"[/\\]", name)[-1]
    return _UNSAFE.sub("_", last)[-MOST_NAME_CHARACTERS:].lstrip(".") or "upload"


def _write(file: UploadFile, path: Path) -> None:
    with path.open("xb") as target:
        shutil.copyfileobj(file.file, target)

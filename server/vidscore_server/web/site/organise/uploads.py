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

MOST_FILE_BYTES = 2 << 30
MOST_NAME_CHARACTERS = 80

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


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

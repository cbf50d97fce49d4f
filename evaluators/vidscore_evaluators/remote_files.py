"""Files at remote addresses, such as ``s3://bucket/runs``.

`fsspec` finds, reads and writes them. It is an optional dependency, as is the package for each kind
of store. The files at an address are listed once. They are read whole, or in the parts that are
asked for, and a file that has changed since is refused. The location of a store and the credentials
are configured by that package's own means: environment variables, files of the user, the machine's
role.
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError, MissingExtraError, VidscoreError

MOST_SHOWN = 200
"""Maximum number of characters of a store's message that a fault shows."""

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://.*", re.DOTALL)
_NAMES_NOTHING = re.compile(r"s3a?:///.*|[^/]*://+", re.DOTALL | re.IGNORECASE)
"""Addresses without a bucket, or with nothing after the scheme."""
_ON_DISK = re.compile(r"^file://(?=.)", re.IGNORECASE)
_EXTRAS = {"s3": "s3fs", "s3a": "s3fs"}
"""Packages of the kinds of store that the extra covers."""

_CONNECT_TIMEOUT_S = 10
_NO_CREDENTIALS = ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError")
_NOT_FOUND = (404, 410)
_NO_PERMISSION = (401, 403)
_WITHOUT_PARTS = ("support range requests", "seek streaming HTTP")
"""Messages of fsspec if a part of a file is requested from a server that sends only whole files."""

_ADVICE = dict.fromkeys(
    _EXTRAS,
    "AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, say as whom; FSSPEC_S3_ANON=true "
    "reads what is public",
)


class RemotePath(Struct, frozen=True):
    """Address of a remote file or folder.

    Attributes:
        address: The address as typed, without a trailing slash.
    """

    address: str

    def __str__(self) -> str:
        """The address."""
        return self.address

    def __fspath__(self) -> str:
        """The address, so that it works wherever a path of data does."""
        return self.address

    @property
    def name(self) -> str:
        """The last part of the address."""
        return PurePosixPath(self.address).name


DataPath = Path | RemotePath
"""A local path or a remote address of data."""


def data_path(named: str | os.PathLike[str]) -> DataPath:
    """The path or address that a string means: an address if it begins like one, else a local path.

    Raises:
        InputError: If it is empty, which would mean the working folder; if it has the character 0,
            which no path may have; or if it is an address without a name.
    """
    text = path_text(named)
    if not text or "\0" in text:
        found = repr(text)[:MOST_SHOWN] if text else "an empty name"
        raise InputError([Fault(found, "the path of a file or folder")])
    if not _ADDRESS.fullmatch(text):
        return Path(text)
    if _NAMES_NOTHING.fullmatch(text):
        expected = "one such as s3://bucket/runs"
        raise InputError([Fault("an address that names nothing", expected, source=text)])
    return RemotePath(text.rstrip("/"))


def path_text(named: str | os.PathLike[str]) -> str:
    """The string of a path or address; ``file:///a`` is the path /a.

    A path may give bytes, as the entries of `os.scandir` do for a folder of bytes.
    """
    return _ON_DISK.sub("", os.fsdecode(named))


class RemoteFile(Struct, frozen=True, eq=False):
    """A remote file as it was when it was listed.

    Attributes:
        shown: Its address.
        byte_count: Its size.
        state: A value of the store that changes with the content.
    """

    shown: str
    byte_count: int
    state: str
    _store: Any
    _name: str

    def read(self, count: int = -1) -> bytes:
        """Read all of it, or its first bytes.

        Raises:
            InputError: If it cannot be read, or its size has changed.
        """
        size = self.byte_count if count < 0 else min(count, self.byte_count)
        if not size:
            return b""
        with _reading(self.shown):
            # Reading one byte more reveals a file that has grown.
            end = size if size < self.byte_count else size + 1
            data: bytes = self._store.cat_file(self._name, start=0, end=end)
        if len(data) == self.byte_count:
            return data[:size]  # a server that does not support ranges sends the whole file
        if len(data) != size:
            found = f"a file that has changed since it was listed with {self.byte_count} bytes"
            raise InputError([Fault(found, "", source=self.shown)])
        return data

    def opened(self) -> io.RawIOBase:
        """Open it for random access.

        Raises:
            InputError: If it cannot be opened; its methods raise it too.
        """
        with _reading(self.shown):
            # Each part that is read is one request for that part.
            file = self._store.open(self._name, "rb", cache_type="none")
        return _PartReader(file, self)


class _PartReader(io.RawIOBase):
    """Reads parts of a remote file; errors become faults of the input."""

    def __init__(self, file: Any, of: RemoteFile) -> None:
        super().__init__()
        self._file = file
        self._of = of

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        with _reading(self._of.shown):
            return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1, /) -> bytes:
        with _reading(self._of.shown):
            data: bytes = self._file.read(size)
        return data

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def listed_files(path: RemotePath, most: int) -> Mapping[tuple[str, ...], RemoteFile]:
    """The files at an address by their paths below it; a file itself has the path ``()``.

    Args:
        path: The address.
        most: Maximum number of files.

    Raises:
        InputError: If nothing is there, there are too many files, or listing fails.
        MissingExtraError: If a required package is not installed.
    """
    with _reading(path.address):
        store, root = _store_of(path)
        facts = store.info(root)
        listed = {root: facts}
        if facts["type"] != "file":
            listed = store.find(root, detail=True)
    if len(listed) > most:
        expected = f"at most maximum_files = {most}"
        raise InputError([Fault(f"{len(listed)} files", expected, source=path.address)])
    files = {}
    for name, facts in listed.items():
        below = name.removeprefix(root).strip("/")
        if facts["type"] != "file" or name.endswith("/"):
            continue  # what some programs leave in place of a folder
        shown = "/".join(filter(None, (path.address, below)))
        parts = tuple(below.split("/")) if below else ()
        files[parts] = RemoteFile(shown, int(facts["size"]), _state(facts), store, name)
    return files


def matching(pattern: RemotePath, *, folders: bool = False) -> list[str]:
    """Addresses of files and folders that match a pattern, in order.

    Args:
        pattern: The pattern.
        folders: Whether only folders match, as a trailing slash in the typed pattern demands.

    Raises:
        InputError: If listing fails.
        MissingExtraError: If a required package is not installed.
    """
    with _reading(pattern.address):
        store, within = _store_of(pattern)
        found = store.glob(f"{within}/" if folders else within)
        return sorted(store.unstrip_protocol(name.rstrip("/")) for name in found)


def is_there(path: RemotePath) -> bool:
    """Whether a file or folder is at an address.

    Raises:
        InputError: If that cannot be found out.
        MissingExtraError: If a required package is not installed.
    """
    with _reading(path.address):
        store, name = _store_of(path)
        try:
            store.info(name)
        except FileNotFoundError as error:
            if _is_missing(error):
                return False
            raise
        return True


def check_store(path: RemotePath) -> None:
    """Refuse an address that cannot be written to, as far as is known without a request.

    Raises:
        InputError: If there is no such kind of store.
        MissingExtraError: If a required package is not installed.
    """
    with _reading(path.address):
        _store_of(path)


def write_file(path: RemotePath, data: bytes) -> None:
    """Write a file at an address; object stores show it only when it is complete.

    Raises:
        MissingExtraError: If a required package is not installed.
        OSError: If it cannot be written.
    """
    write_files(path, {"": data})


def write_files(path: RemotePath, files: Mapping[str, bytes]) -> None:
    """Write files below an address; if one fails, those written before it are deleted.

    Args:
        path: The address.
        files: Content by relative path.

    Raises:
        MissingExtraError: If a required package is not installed.
        OSError: If a file cannot be written.
    """
    with _writing(path.address):
        store, root = _store_of(path)
        written: list[str] = []
        try:
            for below, data in files.items():
                name = "/".join(filter(None, (root, below)))
                store.pipe_file(name, data)
                written.append(name)
        except BaseException:
            for name in written:
                with suppress(Exception):  # the first error is the one to report
                    store.rm_file(name)
            raise


# --- stores and their errors -----------------------------------------------------------------


def _store_of(path: RemotePath) -> tuple[Any, str]:
    """The file system of an address, and the name within it."""
    import fsspec  # noqa: PLC0415 - an extra

    # List again for each reading: the content may have changed.
    options: dict[str, Any] = {"use_listings_cache": False}
    if _scheme(path.address) in _EXTRAS:
        options["config_kwargs"] = {"connect_timeout": _CONNECT_TIMEOUT_S}
    store, name = fsspec.core.url_to_fs(path.address, **options)
    return store, str(name).rstrip("/")


def _scheme(address: str) -> str:
    return address.partition("://")[0].lower()


def _state(facts: Mapping[str, Any]) -> str:
    known = (facts.get(name) for name in ("ETag", "etag", "mtime", "LastModified", "created"))
    return str(next((fact for fact in known if fact is not None), ""))


@contextmanager
def _reading(address: str) -> Iterator[None]:
    """Raise errors of the store as an error of an input."""
    try:
        yield
    except VidscoreError:
        raise
    except Exception as error:  # noqa: BLE001 - each store has errors of its own, of no one class
        raise InputError([_fault(error, address)]) from None


@contextmanager
def _writing(address: str) -> Iterator[None]:
    """Raise errors of the store as `OSError`, as for files on a disk."""
    try:
        yield
    except VidscoreError:
        raise
    except Exception as error:  # noqa: BLE001 - as above
        found = f"cannot be written: {_fault(error, address).description}"
        raise OSError(getattr(error, "errno", None) or errno.EIO, found, address) from None


def _is_missing(error: FileNotFoundError) -> bool:
    """Whether the file does not exist; fsspec also says so of other errors of an HTTP server."""
    said = error.__cause__
    status = getattr(said, "status", None)
    return not isinstance(said, OSError) if status is None else status in _NOT_FOUND


def _of_server(said: BaseException, address: str) -> Fault:
    """The fault for an HTTP status other than success."""
    status = getattr(said, "status", None)
    if status is None:
        found = str(said)[:MOST_SHOWN] or type(said).__name__
        return Fault(f"the server does not answer ({found})", "", source=address)
    reason = f"{status} {getattr(said, 'message', '')}"[:MOST_SHOWN].strip()
    what = "no permission" if status in _NO_PERMISSION else "the store cannot be used"
    return Fault(f"{what} ({reason})", "", source=address)


def _fault(error: Exception, address: str) -> Fault:
    """An error of the store as one fault.

    Raises:
        MissingExtraError: If a package of the extra is not installed.
    """
    said = (str(error).splitlines() or [""])[0][:MOST_SHOWN]
    scheme = _scheme(address)
    if isinstance(error, ImportError):
        if scheme in _EXTRAS or error.name == "fsspec":
            package = _EXTRAS.get(scheme, "fsspec")
            raise MissingExtraError(f"paths such as {scheme}://", package, "s3")
        found = f"{scheme}:// needs a package that is not installed ({said})"
        return Fault(found, "", source=address)
    if isinstance(error, FileNotFoundError):
        if error.__cause__ is not None and not _is_missing(error):
            return _of_server(error.__cause__, address)
        why = f" ({said})" if " " in said and said not in address else ""
        return Fault(f"file or folder not found{why}", "", source=address)
    if isinstance(error, PermissionError):
        return Fault(f"no permission ({said})", "", source=address, advice=_ADVICE.get(scheme))
    if type(error).__name__ in _NO_CREDENTIALS:
        return Fault("no credentials", "", source=address, advice=_ADVICE.get(scheme))
    if isinstance(error, ValueError) and said.startswith("Protocol not known"):
        return Fault(f"{scheme}://", "a kind of store that fsspec knows, as s3://", source=address)
    if isinstance(error, ValueError) and any(words in said for words in _WITHOUT_PARTS):
        found, expected = "a server that sends files whole", "one that sends parts of files"
        return Fault(found, expected, source=address, advice="copy the file to a disk")
    return Fault(f"the store cannot be used ({said or type(error).__name__})", "", source=address)

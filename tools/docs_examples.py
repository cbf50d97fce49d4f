r"""Run the examples of a page of the documentation, and compare their output with the page.

The blocks of a page run in order in one new folder, which has the files that the page declares:

``console``
    Lines that begin with ``$`` are commands; ``\`` at the end continues a command on the next
    line. The lines below a command are its output. A command that fails is an error, unless
    ``$ echo $?`` follows.
``python``
    Runs in a namespace that all such blocks of a page share.

In an output, a line ``...`` matches any lines, and a word ``...`` any part of its line.
``127.0.0.1:50051`` is replaced by the address of a running server that hosts benchmarks, and
``127.0.0.1:8080`` by that of its site. ``VIDSCORE_TOKEN`` is the secret of an organiser's token,
and ``CLONE`` the folder of this repository.
A page that declares a ``pyproject.toml`` is a plug-in: it is built and installed for its commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import socket
import subprocess
import sys
import sysconfig
import tempfile
import traceback
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tools.docs_pages import ROOT, Block, blocks

from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.main import cli
from vidscore_server.domain.administration import initialise

SERVER = "127.0.0.1:50051"
"""The default address: examples use it, and a server on a free port takes its place."""

SITE = "127.0.0.1:8080"
"""The same for the site."""

ANYTHING = "..."
COMMAND_TIMEOUT_S = 300
_SHELL = re.compile(r"[|<>&;$*`]")


class DocsServer(NamedTuple):
    """The server that the examples call; it hosts benchmarks.

    Attributes:
        address: Its address.
        token: Secret of an organiser's token.
        site: Address of its site and its HTTP API.
    """

    address: str
    token: str
    site: str = ""


@contextlib.contextmanager
def docs_server() -> Iterator[DocsServer]:
    """Run a server with its own store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        token = initialise(store).secret
        site = _free_address()
        options = ("--workers", "1", "--store", str(store), "--web", site)
        with ServerProcess(*options) as process:
            yield DocsServer(process.address, token, site)


def _free_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"


@dataclass(frozen=True)
class Outcome:
    """An output: as the page has it, and as the example printed it.

    Attributes:
        line: Line of the page.
        start: Offset of the output in the page.
        expected: The output on the page.
        printed: The output of the example.
    """

    line: int
    start: int
    expected: str
    printed: str

    @property
    def matches(self) -> bool:
        """Whether the page is right."""
        pattern = "".join(
            "(?:.*\n)*" if line.strip() == ANYTHING else ".*".join(map(re.escape, _parts(line)))
            for line in self.expected.splitlines(keepends=True)
        )
        return re.fullmatch(pattern, self.printed) is not None

    @property
    def is_elided(self) -> bool:
        """Whether the page leaves something out."""
        return len(_parts(self.expected)) > 1


def _parts(text: str) -> list[str]:
    """The parts of a text between each ``...`` that is a separate word."""
    return re.split(r"(?<!\S)\.\.\.(?!\S)", text)


class ExampleError(Exception):
    """An example did not run to its end."""


@dataclass
class PageRun:
    """A run of one page.

    Args:
        folder: Folder of its files.
        server: Address of a running server.
        token: Secret of an organiser's token of that server.
        site: Address of its site; empty: it has none.
    """

    folder: Path
    server: str
    token: str = ""
    site: str = ""
    variables: dict[str, str] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    status: int = 0

    def run(self, text: str) -> Iterator[Outcome]:
        """Run every example of a page.

        Raises:
            ExampleError: If one fails.
        """
        found = blocks(text)
        for block in found:
            if block.file is not None:
                path = self.folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, encoding="utf-8")
        if (self.folder / "pyproject.toml").exists():
            self._install()
        for index, block in enumerate(found):
            if "norun" in block.words or block.file is not None:
                continue
            if block.language == "console":
                yield from self._console(block)
            elif block.language == "python":
                following = found[index + 1] if index + 1 < len(found) else None
                yield from self._python(block, following)

    def _console(self, block: Block) -> Iterator[Outcome]:
        printed = ""
        for command, start, expected in commands(block):
            line = block.line + block.text.count("\n", 0, start - block.start)
            if self.status and command != "echo $?":
                raise ExampleError(f"the command above line {line} ended with {self.status}")
            printed = self._command(command)
            yield Outcome(line, start, expected, self._generic(printed))
        if self.status:
            raise ExampleError(f"a command of the block at line {block.line} failed: {printed}")

    def _command(self, command: str) -> str:
        if command == "echo $?":
            status, self.status = self.status, 0
            return f"{status}\n"
        specific = self._specific(command)
        if command.startswith("vidscore ") and not _SHELL.search(command) and not self.variables:
            return self._in_process(shlex.split(specific.replace("\\\n", ""))[1:])
        done = subprocess.run(
            ["bash", "-c", specific],
            cwd=self.folder,
            env=self._environment(),
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
        )
        self.status = done.returncode
        return done.stdout

    def _in_process(self, arguments: list[str]) -> str:
        """Run the command line in this process, which saves the imports."""
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        self.status = 0
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            _environment(self._access),
        ):
            try:
                cli.main(arguments, prog_name="vidscore")
            except SystemExit as end:
                self.status = int(end.code or 0)
        printed.seek(0)
        return printed.read()

    def _python(self, block: Block, following: Block | None) -> Iterator[Outcome]:
        printed = io.StringIO()
        source = "\n" * (block.line - 1) + self._specific(block.text)
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(printed),
            _environment(self._access),
        ):
            try:
                exec(compile(source, "page", "exec"), self.namespace)
            except Exception:  # noqa: BLE001 - an example may fail in any way
                raise ExampleError(traceback.format_exc()) from None
        if following is not None and "output" in following.words:
            text = self._generic(printed.getvalue())
            yield Outcome(following.line, following.start, following.text, text)
        elif printed.getvalue():
            yield Outcome(block.line, block.start, "", printed.getvalue())

    def _specific(self, text: str) -> str:
        return text.replace(SERVER, self.server).replace(SITE, self.site or SITE)

    def _generic(self, printed: str) -> str:
        if self.site:
            printed = printed.replace(self.site, SITE)
        return printed.replace(self.server, SERVER).replace(str(self.folder), "/path/to/folder")

    def _environment(self) -> Mapping[str, str]:
        scripts = sysconfig.get_path("scripts")
        path = os.pathsep.join([scripts, os.environ.get("PATH", "")])
        clone = {"CLONE": str(ROOT)}
        return {**os.environ, **self._access, **clone, "PATH": path, **self.variables}

    @property
    def _access(self) -> dict[str, str]:
        """Variables that select the server, as pages tell users to; saved data stays here."""
        return {
            "VIDSCORE_SERVER": self.server,
            "VIDSCORE_TOKEN": self.token,
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
        }

    def _install(self) -> None:
        """Build the page's plug-in and install it for the page's commands."""
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"]
        subprocess.run(build, cwd=self.folder, check=True, capture_output=True)
        [wheel] = (self.folder / "dist").glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(self.folder / "site")
        inherited = os.environ.get("PYTHONPATH")
        paths = filter(None, [str(self.folder / "site"), inherited])
        self.variables["PYTHONPATH"] = os.pathsep.join(paths)


def commands(block: Block) -> Iterator[tuple[str, int, str]]:
    """Each command of a console block, the offset of its output in the page, and the output."""
    position = block.start
    entries: list[tuple[str, int, list[str]]] = []
    unfinished = False
    for line in block.text.splitlines(keepends=True):
        position += len(line)
        if unfinished:
            command, _, output = entries[-1]
            # The shell joins the lines: inside quotes it keeps what divides them.
            entries[-1] = (command + "\n" + line.rstrip(), position, output)
        elif line.startswith("$ "):
            entries.append((line.removeprefix("$ ").strip(), position, []))
        else:
            entries[-1][2].append(line)
        unfinished = (unfinished or line.startswith("$ ")) and line.rstrip().endswith("\\")
    for command, start, output in entries:
        yield command, start, "".join(output)


@contextlib.contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""Run targets under atheris, which is guided by the coverage of the code.

    python -m tests.campaigns.fuzzing.engine < asked > exit-statuses

Each line of JSON asks for one run and has the fields of `Asked`. A run is a fork of a process that
has already imported and instrumented everything: that takes longer than a run, and libFuzzer ends
its process. The folder has the initial inputs (`corpus`); the run writes its findings there
(`findings`), the number of inputs (`counts`), and the output of the process (`said.txt`).
Each finding is reported once per kind and place, and the run continues.
"""

from __future__ import annotations

import atexit
import io
import json
import mmap
import os
import resource
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr
from hashlib import sha256
from pathlib import Path
from typing import NoReturn

import atheris
from tests.campaigns.fuzzing.catalogue import CODE, MODULES, target_of
from tests.campaigns.fuzzing.running import COUNTS, Asked
from tests.campaigns.fuzzing.targets import Target, changed, judged
from tests.campaigns.fuzzing.trees import packed, unpacked

LONGEST_INPUT_BYTES = 1 << 16
MEMORY_MIB = 1_024
"""Memory limit of a process; reading an input of 64 KiB needs a fifth of it."""
ADDRESSES_BYTES = 2 << 30
"""Address space that a process may use beyond what it has after its start."""
INPUT_TIMEOUT_S = 20
"""Time limit of one input, which no input reaches even on a loaded machine."""
MOST_FINDINGS = 20


class Run:
    """A run of a target.

    Attributes:
        target: The target.
        folder: Folder of the corpus, the findings and the counts.
        work: A folder for the files of an input.
    """

    def __init__(self, target: Target, folder: Path, work: Path) -> None:
        self.target = target
        self.folder = folder
        self.work = work
        self.pool = [dict(files) for files in target.seeds()]
        self.places: set[str] = set()
        path = folder / "counts"
        path.write_bytes(COUNTS.pack(0, 0))
        with path.open("r+b") as file:
            self.counts = mmap.mmap(file.fileno(), COUNTS.size)

    def one(self, data: bytes) -> None:
        """Run one input."""
        files = unpacked(data)
        if files is None:
            return
        given, accepted = COUNTS.unpack(self.counts[:])
        try:
            accepted += judged(self.target, files, self.work)
        except Exception as error:  # noqa: BLE001 - it is what is looked for
            self.find(data, error)
        self.counts[:] = COUNTS.pack(given + 1, accepted)

    def change(self, data: bytes, most: int, seed: int) -> bytes:
        """Mutate an input; libFuzzer calls this."""
        try:
            found = changed(self.target, self.pool, data, seed)
        except Exception:  # noqa: BLE001 - what was broken before may be past changing by its rules
            found = packed(self.pool[seed % len(self.pool)])
        return found if len(found) <= most else data

    def find(self, data: bytes, error: Exception) -> None:
        """Keep an input that breaks the law, unless a similar one is kept already."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} in {last.name} of {last.filename}, line {last.lineno}"
        if place in self.places:
            return
        self.places.add(place)
        path = self.folder / "findings" / sha256(data).hexdigest()[:16]
        path.write_bytes(data)
        path.with_suffix(".txt").write_text("".join(traceback.format_exception(error)))
        if len(self.places) >= MOST_FINDINGS:
            os._exit(0)


def fuzz(asked: Asked) -> None:
    """Run until the time or the inputs are used up, then end this process."""
    folder = Path(asked.folder)
    corpus, findings = folder / "corpus", folder / "findings"
    for path in (corpus, findings):
        path.mkdir(parents=True, exist_ok=True)
    with atheris.instrument_imports(include=[*CODE]):
        run = Run(target_of(asked.name), folder, Path(tempfile.mkdtemp(dir="/dev/shm")))
        for files in run.pool:  # Instrument modules that are imported on first use.
            data = packed(files)
            (corpus / sha256(data).hexdigest()[:16]).write_bytes(data)
            run.one(data)
    sanitized = "LD_PRELOAD" in os.environ
    if not sanitized:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
        resource.setrlimit(resource.RLIMIT_AS, (used + ADDRESSES_BYTES,) * 2)
    options = [
        f"-max_total_time={asked.seconds}",
        f"-runs={asked.inputs}",
        f"-seed={asked.seed + 1}",  # 0 is a random seed.
        f"-max_len={LONGEST_INPUT_BYTES}",
        f"-timeout={INPUT_TIMEOUT_S}",
        f"-rss_limit_mb={4 * MEMORY_MIB if sanitized else MEMORY_MIB}",
        f"-artifact_prefix={findings}{os.sep}",
        "-len_control=0",
        "-print_final_stats=1",
        str(corpus),
    ]
    # libFuzzer ends by `exit`, which may take a while; its timer would kill the process meanwhile.
    atexit.register(os._exit, 0)
    atheris.Setup([sys.argv[0], *options], run.one, custom_mutator=run.change)
    atheris.Fuzz()


def _forked(asked: Asked) -> int:
    """Run in a fork of this process; returns its exit status."""
    process = os.fork()
    if not process:
        _run_and_end(asked)
    _, status = os.waitpid(process, 0)
    return os.waitstatus_to_exitcode(status)


def _run_and_end(asked: Asked) -> NoReturn:
    said = os.open(Path(asked.folder) / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(said, stream)
    try:
        fuzz(asked)
    except BaseException:  # noqa: BLE001 - nothing may go on in the parent's place
        traceback.print_exc()
        sys.stderr.flush()
    os._exit(1)


def main() -> None:
    """Do the runs that standard input asks for, until it ends."""
    warnings.simplefilter("error")
    # atheris reports every module, which would clutter the output of tests.
    with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=[*CODE]):
        for name in MODULES:
            target_of(name)
    for line in sys.stdin:
        print(_forked(Asked(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

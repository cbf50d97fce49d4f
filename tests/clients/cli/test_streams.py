"""Standard streams that are pipes, full or closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.clients.cli.helpers import BINARY
from tests.support.requirements import missing

SCORE = "score f1 --truth t.csv --detections d.csv --format json"
BOXES = "sequence,frame,class,x1,y1,x2,y2"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.csv").write_text(f"{BOXES}\ns,0,a,1,1,9,9\n")
    (tmp_path / "d.csv").write_text(f"{BOXES},confidence\ns,0,a,1,1,9,9,0.5\n")
    return tmp_path


def in_bash(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which ``vidscore`` is the installed command."""
    line = f'vidscore() {{ "{BINARY}" "$@"; }}; {command}'
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, capture_output=True, encoding="utf-8", timeout=120
    )


def test_output_to_a_pipe_is_unchanged(folder: Path) -> None:
    # It closes its output at the end, so that bash waits for it.
    done = in_bash(f"vidscore {SCORE} --output >(cat)", folder)
    assert done.stdout.startswith("{\n"), done.stderr
    assert done.stdout.endswith("}\n")
    assert done.stderr == ""
    done = in_bash(f"vidscore {SCORE} --output /dev/stdout | head -1", folder)
    assert (done.stdout, done.stderr) == ("{\n", "")


@pytest.mark.parametrize(
    ("command", "place"),
    [
        (f"{SCORE} --output /dev/full", "/dev/full"),
        (f"{SCORE} > /dev/full", "standard output"),
        ("outcomes f1 --truth t.csv --detections d.csv > /dev/full", "standard output"),
        ("completion bash > /dev/full", "standard output"),
        ("--help > /dev/full", "standard output"),
        ("--version > /dev/full", "standard output"),
        ("trust --help > /dev/full", "standard output"),
        ("help trust ranking > /dev/full", "standard output"),
        ("benchmark new f1 > /dev/full", "standard output"),
        ("init --store site.db > /dev/full 2> >(tail -n 1 >&2)", "standard output"),
    ],
)
def test_a_full_stream_is_named(command: str, place: str, folder: Path) -> None:
    if not Path("/dev/full").exists():
        missing("/dev/full")
    done = in_bash(f"vidscore {command}", folder)
    assert done.returncode == 1
    assert done.stderr == f"Error: {place}: cannot be written: no space left on device\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["evaluators", SCORE])
def test_partly_written_results_are_an_error(command: str, unbuffered: str, folder: Path) -> None:
    """Also without a buffer, if a write reports that it has taken only a part."""
    environment = f"PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED={unbuffered}"
    done = in_bash(f"ulimit -f 1; {environment} vidscore {command} > part.txt", folder)
    assert (folder / "part.txt").stat().st_size == 1024
    assert done.returncode == 1
    assert done.stderr == "Error: standard output: cannot be written: file too large\n"


@pytest.mark.parametrize("command", ["evaluators", SCORE, "convert d.csv e.csv --to generic-csv"])
def test_results_for_a_closed_standard_output_are_an_error_of_one_line(
    command: str, folder: Path
) -> None:
    done = in_bash(f"vidscore {command} >&-", folder)
    assert done.returncode == 1
    assert done.stderr == "Error: standard output: cannot be written: bad file descriptor\n"


@pytest.mark.parametrize("command", ["--help", "help score", "--version", "evaluators"])
def test_a_reader_that_has_stopped_ends_every_output_silently(command: str, folder: Path) -> None:
    gone = "{ exec <&-; echo >go; }"
    piped = f"mkfifo go; {{ read <go; vidscore {command}; }} | {gone}; echo ${{PIPESTATUS[0]}}"
    done = in_bash(piped, folder)
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_a_closed_standard_error_changes_nothing_else(folder: Path) -> None:
    done = in_bash(f"vidscore {SCORE} 2>&-", folder)
    assert done.returncode == 0
    assert done.stdout.startswith("{\n")
    done = in_bash("vidscore score f1 --truth t.csv --detections x.csv 2>&-", folder)
    assert done.returncode == 1


def test_a_full_standard_error_changes_nothing_else(folder: Path) -> None:
    if not Path("/dev/full").exists():
        missing("/dev/full")
    assert in_bash("vidscore score nonesuch --truth t.csv 2>/dev/full", folder).returncode == 2


def test_no_file_gets_the_descriptor_of_a_closed_stream(folder: Path) -> None:
    done = in_bash(f"vidscore {SCORE} --output out.json <&- >&- 2>&-", folder)
    assert done.returncode == 0
    assert (folder / "out.json").read_text().startswith("{\n")


def test_a_file_that_does_not_fit_on_a_full_disk_leaves_no_part(folder: Path) -> None:
    done = in_bash("ulimit -f 1; vidscore benchmark new f1 --file new.toml", folder)
    assert done.returncode == 1
    assert done.stderr == "Error: new.toml: cannot be written: file too large\n"
    assert sorted(path.name for path in folder.iterdir()) == ["d.csv", "t.csv"]


def test_a_secret_file_that_cannot_be_written_leaves_no_store(folder: Path) -> None:
    done = in_bash(f"vidscore init --store site.db --secret-file {'x' * 256}", folder)
    said = f"Error: {'x' * 256}: cannot be written: file name too long\n"
    assert (done.returncode, done.stderr) == (1, said)
    done = in_bash("vidscore init --store site.db --secret-file no/secret", folder)
    assert (done.returncode, "--secret-file: there is no folder" in done.stderr) == (2, True)
    assert sorted(path.name for path in folder.iterdir()) == ["d.csv", "t.csv"]


def test_a_broken_pipe_to_another_process_is_an_error(folder: Path) -> None:
    """If a helper of the server could not start, the server ended silently."""
    (folder / "broken.py").write_text(
        "import vidscore_server.start as start\n"
        "from vidscore_cli.main import main\n"
        "def run(*_):\n"
        "    raise BrokenPipeError(32, 'Broken pipe')\n"
        "start.run = run\n"
        "main()\n"
    )
    done = in_bash(
        f"{sys.executable} broken.py serve --listen 127.0.0.1:0 | cat; exit ${{PIPESTATUS[0]}}",
        folder,
    )
    message = "a process that this one needs has died, or could not start"
    assert (done.returncode, done.stderr) == (1, f"Error: {message}\n")

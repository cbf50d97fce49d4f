"""Write the golden files of a version: a store, a backup of it, and its reports.

    python tests/server/store/write_golden.py FOLDER

It only runs commands, whose names do not change, so it works with any version. The files of a
released version are never written again; `test_golden_stores` reads them with the present code.

The store has one benchmark (boxes, two classes, three evaluators), truth for two frames, two scored
submissions and one that is still open, tokens and the audit record.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

VIDSCORE = str(Path(sys.executable).parent / "vidscore")

BENCHMARK = """\
title = "Two streets"
public_names = ["sequences", "labels"]

[[evaluators]]
name = "f1"

[[evaluators]]
name = "map"

[[evaluators]]
name = "clear"

[policy]
visibility = "final"
"""

HEADER = "sequence,frame,x1,y1,x2,y2,class,confidence,track_id"

TRUTH = """\
sequence,frame,x1,y1,x2,y2,class,track_id
north,0,10,10,50,40,car,1
north,0,100,20,130,80,bus,2
north,1,12,10,52,40,car,1
"""

FIRST = f"""\
{HEADER}
north,0,11,10,50,41,car,0.9,7
north,0,100,22,131,80,bus,0.8,8
north,1,12,10,52,40,car,0.95,7
"""

SECOND = f"""\
{HEADER}
north,0,10,12,50,40,car,0.5,7
north,1,200,200,240,240,bus,0.3,9
"""


def main(folder: Path) -> None:
    """Write ``store.db.gz``, ``site.backup`` and ``report.json.gz`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        _write_site()
        _write_report()
        _pack_store()
        shutil.copyfile("site.backup", folder / "site.backup")
        for name in ("store.db", "report.json"):
            data = gzip.compress(Path(name).read_bytes(), mtime=0)
            (folder / f"{name}.gz").write_bytes(data)


def _write_site() -> None:
    for name, text in (("benchmark.toml", BENCHMARK), ("truth.csv", TRUTH),
                       ("first.csv", FIRST), ("second.csv", SECOND)):  # fmt: skip
        Path(name).write_text(text)
    _run("init", "--store", "store.db", "--secret-file", "organiser.secret")
    serve = [VIDSCORE, "serve", "--store", "store.db", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.search(r"127\.0\.0\.1:\d+", line)
        assert found is not None, line
        os.environ["VIDSCORE_SERVER"] = found[0]
        os.environ["VIDSCORE_TOKEN"] = Path("organiser.secret").read_text().strip()
        _run("benchmark", "create", "streets", "benchmark.toml")
        _run("benchmark", "truth", "streets", "--truth", "truth.csv")
        _run("token", "create", "performer", "--team", "falcon", "--secret-file", "falcon.secret")
        _run("submit", "streets", "--detections", "first.csv", "--name", "first")
        _run("submit", "streets", "--detections", "second.csv", "--name", "second")
        _run("submit", "streets", "--detections", "second.csv", "--name", "third", "--no-seal")
        _run("backup", "site.backup")
        server.send_signal(signal.SIGTERM)


def _write_report() -> None:
    sides = ["--truth", "truth.csv", "--detections", "first.csv"]
    _run("score", "f1", "map", "clear", *sides, "--format", "json", "--output", "report.json")


def _pack_store() -> None:
    """Checkpoint the write-ahead log into the file, and drop unused pages."""
    connection = sqlite3.connect("store.db")
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("VACUUM")
    connection.close()


def _run(*arguments: str) -> None:
    subprocess.run([VIDSCORE, *arguments], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())

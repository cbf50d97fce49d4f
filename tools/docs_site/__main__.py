"""Build the documentation site and check it.

    python -m tools.docs_site FOLDER

The site is static files: any web server can serve them, and a browser can open them directly.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tools.docs_site.accessibility import mend_pages
from tools.docs_site.checks import faults_of_site
from tools.docs_site.copies import copy_pages
from tools.docs_site.doors import INDEX, Group, groups, write_navigation
from tools.docs_site.llms import llms_text
from tools.docs_site.references import ENTRIES, references

CONFIGURATION = Path(__file__).resolve().parent
REFERENCE = "Reference"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the site goes; replaced")
    folder = parser.parse_args().folder.resolve()
    began_s = time.monotonic()
    sources = folder.with_name(f"{folder.name}-sources")
    for old in (folder, sources):
        shutil.rmtree(old, ignore_errors=True)
    listed = write_sources(sources)
    status = generate(sources, folder)
    if status:
        sys.exit(status)
    mend_pages(folder)
    copy_pages(folder)  # for those who read Markdown
    (folder / "llms.txt").write_text(
        llms_text((sources / INDEX).read_text("utf-8"), listed), "utf-8"
    )
    faults = faults_of_site(folder)
    if faults:
        sys.exit("\n".join(["the site is not as it should be:", *faults]))
    count = sum(1 for _ in folder.rglob("*.html"))
    print(f"{folder}/{Path(INDEX).stem}.html: {count} pages, {time.monotonic() - began_s:.0f} s")


def write_sources(folder: Path) -> list[Group]:
    """Write the files that the generator reads; returns the groups of the navigation."""
    copy_pages(folder)
    for place, text in references().items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    listed = [
        Group(group.title, (*ENTRIES, *group.entries)) if group.title == REFERENCE else group
        for group in groups((folder / INDEX).read_text("utf-8"))
    ]
    write_navigation(folder, listed)
    return listed


def generate(sources: Path, folder: Path) -> int:
    """Run Sphinx, with warnings as errors; returns its exit status."""
    options = ["--quiet", "--fail-on-warning", "--builder", "html", "--jobs", "auto"]
    caches = folder.with_name(f"{folder.name}-cache")
    places = ["--conf-dir", str(CONFIGURATION), "--doctree-dir", str(caches)]
    command = [sys.executable, "-m", "sphinx", *options, *places, str(sources), str(folder)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    main()

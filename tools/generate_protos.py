"""Generate `vidscore_protos.v1` and the comments of the protos, or check the committed files.

    python -m tools.generate_protos                  write clients/python/vidscore_protos/v1, and
                                                     the texts of the server's OpenAPI document
    python -m tools.generate_protos --check          compare only; status 1 and a list if stale
    python -m tools.generate_protos --dependencies   only copy Google's protos to where buf looks

The generator has its own environment: grpcio-tools 1.74.0 needs protobuf 6. Its code works with
protobuf from 6.31.1 and below 8; the code of newer versions would not work with protobuf 6. The
generator names Python modules after the protos' folder, `vidscore/v1`. That name belongs to the
library, so the modules are moved into `vidscore_protos`. The names on the wire stay.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import bootstrap, proto_comments

ROOT = Path(__file__).resolve().parent.parent
PROTOS = ROOT / "protos"
PACKAGE = Path("vidscore/v1")
GENERATED = ROOT / "clients/python/vidscore_protos/v1"
COMMENTS = ROOT / "server/vidscore_server/api/http/proto_comments.json"
# A Python module of the protos, with the name that the generator gives it.
MODULE = re.compile(r"(?<=from )vidscore\.v1(?= import )|\bvidscore\.v1(?=\.\w+_pb2)")
DEPENDENCIES = ROOT / "build/proto-dependencies"
GENERATOR = ROOT / "build/generator-venv"
# Exact versions, unlike every other requirement, so that the generated code is the same everywhere.
# mypy-protobuf writes typed stubs of the services; those of grpcio-tools have no types.
GENERATOR_REQUIREMENTS = ("grpcio-tools==1.74.0", "mypy-protobuf==5.1.0")
# Folders that the protos import, directly or through google/longrunning.
GOOGLE_FOLDERS = ("google/api", "google/longrunning", "google/rpc")


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--dependencies", action="store_true", help="copy Google's protos only")
    options = parser.parse_args()

    copy_dependencies(DEPENDENCIES)
    if options.dependencies:
        return
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        generate(fresh)
        stale = differences(fresh / PACKAGE, GENERATED)
        wanted = comments()
        if not COMMENTS.exists() or COMMENTS.read_text(encoding="utf-8") != wanted:
            stale.append(f"changed  {COMMENTS.relative_to(ROOT)}")
        if not stale:
            return
        if options.check:
            sys.exit("generated code is stale; run `make proto`:\n  " + "\n  ".join(stale))
        replace(fresh / PACKAGE, GENERATED)
        COMMENTS.write_text(wanted, encoding="utf-8")
        print("\n".join(stale))


def comments() -> str:
    """The comments of the protos by name, as JSON; generated code has none."""
    found: dict[str, str] = {}
    for path in sorted((PROTOS / PACKAGE).glob("*.proto")):
        for declared in proto_comments.declarations(path):
            found[declared.name] = declared.comment
            for member in declared.members:
                found[f"{declared.name}.{member.name}"] = member.comment
    return json.dumps(found, indent=0, ensure_ascii=False) + "\n"


def copy_dependencies(target: Path) -> None:
    """Copy Google's protos out of the installed googleapis-common-protos distribution."""
    distribution = importlib.metadata.distribution("googleapis-common-protos")
    shutil.rmtree(target, ignore_errors=True)
    for file in distribution.files or ():
        if file.suffix != ".proto" or file.parent.as_posix() not in GOOGLE_FOLDERS:
            continue
        # Since release 1.70 this file has another name in the wheel than the one by which all
        # languages import it.
        name = "operations.proto" if file.name == "operations_proto.proto" else file.name
        copy = target / file.parent / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(Path(str(file.locate())), copy)


def generate(target: Path) -> None:
    """Write the Python code of all protos below `target`."""
    sources = sorted(path.relative_to(PROTOS) for path in (PROTOS / PACKAGE).glob("*.proto"))
    if not sources:
        sys.exit(f"no .proto files in {PROTOS / PACKAGE}")
    bootstrap.create(GENERATOR)
    bootstrap.install(GENERATOR, list(GENERATOR_REQUIREMENTS))
    subprocess.run(
        [
            str(GENERATOR / "bin/python"),
            *("-m", "grpc_tools.protoc"),
            f"--plugin=protoc-gen-mypy_grpc={GENERATOR / 'bin/protoc-gen-mypy_grpc'}",
            f"--proto_path={PROTOS}",
            f"--proto_path={DEPENDENCIES}",
            f"--python_out={target}",
            f"--pyi_out={target}",
            f"--grpc_python_out={target}",
            f"--mypy_grpc_out=quiet:{target}",
            *map(str, sources),
        ],
        check=True,
    )
    for proto in sources:
        _drop_empty_service_modules(proto, target)
    for path in (target / PACKAGE).glob("*_pb2*"):
        text = path.read_text(encoding="utf-8")
        path.write_text(MODULE.sub("vidscore_protos.v1", text), encoding="utf-8")


def _drop_empty_service_modules(proto: Path, target: Path) -> None:
    """Remove the gRPC modules of a proto without services: they contain only version checks."""
    if "\nservice " not in (PROTOS / proto).read_text(encoding="utf-8"):
        for ending in (".py", ".pyi"):
            (target / proto.parent / f"{proto.stem}_pb2_grpc{ending}").unlink(missing_ok=True)


def differences(fresh: Path, committed: Path) -> list[str]:
    """Name every generated file that is missing, left over or different."""
    wanted, found = _contents(fresh), _contents(committed)
    return [
        f"{_state(name in wanted, name in found)} {committed.relative_to(ROOT) / name}"
        for name in sorted(wanted.keys() | found.keys())
        if wanted.get(name) != found.get(name)
    ]


def replace(fresh: Path, committed: Path) -> None:
    """Make the committed folder hold exactly the fresh files."""
    wanted = _contents(fresh)
    for name in _contents(committed).keys() - wanted.keys():
        (committed / name).unlink()
    for name, content in wanted.items():
        (committed / name).write_bytes(content)


def _contents(folder: Path) -> dict[str, bytes]:
    """Read the generated files of a folder: all except `__init__.py`, which is hand-written."""
    return {path.name: path.read_bytes() for path in folder.glob("*_pb2*.py*")}


def _state(wanted: bool, found: bool) -> str:
    if wanted and found:
        return "changed "
    return "missing " if wanted else "left over"


if __name__ == "__main__":
    main()

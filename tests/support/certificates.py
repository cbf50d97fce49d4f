"""Certificates for tests of encrypted connections."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.support.requirements import missing

_KEY = ("ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


@dataclass(frozen=True)
class Authority:
    """A certificate authority for tests, and the certificates that it has signed.

    Attributes:
        folder: Holds ``ca.pem``, and the ``.pem`` and ``.key`` of each name.
    """

    folder: Path

    @property
    def roots(self) -> Path:
        """The root certificates for a client that trusts this authority."""
        return self.folder / "ca.pem"

    def sign(self, name: str, subject_name: str, days: int = 1) -> None:
        """Make a key and a certificate for a name, which ends in some days."""
        key, request = self.folder / f"{name}.key", self.folder / f"{name}.csr"
        extension = self.folder / f"{name}.ext"
        extension.write_text(f"subjectAltName=DNS:{subject_name}\n")
        openssl(
            "req", "-newkey", *_KEY, "-nodes", "-keyout", key, "-out", request,
            "-subj", f"/CN={name}",
        )  # fmt: skip
        openssl(
            "x509", "-req", "-in", request, "-CA", self.roots,
            "-CAkey", self.folder / "ca.key", "-CAcreateserial", "-days", str(days),
            "-extfile", extension, "-out", self.folder / f"{name}.pem",
        )  # fmt: skip

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return (self.folder / name).read_bytes()


def make_authority(folder: Path) -> Authority:
    """Make a new authority that has signed no certificates."""
    openssl(
        "req", "-x509", "-newkey", *_KEY, "-nodes", "-keyout", folder / "ca.key",
        "-out", folder / "ca.pem", "-days", "1", "-subj", "/CN=vidscore test",
    )  # fmt: skip
    return Authority(folder)


def openssl(*arguments: str | Path) -> str:
    """Run openssl; returns its output."""
    command = ["openssl", *map(str, arguments)]
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except FileNotFoundError:
        missing("openssl, which makes certificates for the tests, is not installed")

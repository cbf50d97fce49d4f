"""Resource names, `benchmarks/{b}/submissions/{s}/streams/{t}`, and other strings in requests."""

from __future__ import annotations

import re
from typing import NamedTuple

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import MAXIMUM_TEXT_LENGTH, string_faults

_ID = r"[a-z][a-z0-9-]{0,62}"
_ID_PATTERN = re.compile(_ID)
_ID_EXPECTED = "1 to 63 lower-case letters, digits and hyphens, a letter first"

_BENCHMARK = re.compile(rf"benchmarks/({_ID})")
_SUBMISSION = re.compile(rf"benchmarks/({_ID})/submissions/({_ID})")
_STREAM = re.compile(rf"benchmarks/({_ID})/submissions/({_ID})/streams/({_ID})")
_TOKEN = re.compile(r"tokens/([0-9a-f]{16})")
_INVITATION = re.compile(r"invitations/([0-9a-f]{16})")
_OPERATION = re.compile(r"operations/([0-9a-z-]{1,63})")

DEFAULT_STREAM = "default"

SECRET_PREFIX = "vidscore_"  # noqa: S105 - the beginning of every token's secret


class SubmissionName(NamedTuple):
    """Name of a submission."""

    benchmark: str
    submission: str

    def __str__(self) -> str:
        """The resource name."""
        return f"benchmarks/{self.benchmark}/submissions/{self.submission}"


class StreamName(NamedTuple):
    """Name of an append stream."""

    benchmark: str
    submission: str
    stream: str

    @property
    def of_submission(self) -> SubmissionName:
        """Name of the stream's submission."""
        return SubmissionName(self.benchmark, self.submission)

    def __str__(self) -> str:
        """The resource name."""
        return f"{self.of_submission}/streams/{self.stream}"


def benchmark_name(benchmark: str) -> str:
    """Resource name of a benchmark."""
    return f"benchmarks/{benchmark}"


def read_benchmark(name: str, field: str = "name") -> str:
    """The last part of a benchmark's resource name.

    Raises:
        InputError: If it is malformed.
    """
    return _matched(_BENCHMARK, name, f"benchmarks/{{benchmark}}, {_ID_EXPECTED}", field)[0]


def read_submission(name: str, field: str = "name") -> SubmissionName:
    """The parts of a submission's resource name.

    Raises:
        InputError: If it is malformed.
    """
    expected = f"benchmarks/{{benchmark}}/submissions/{{submission}}, each {_ID_EXPECTED}"
    return SubmissionName(*_matched(_SUBMISSION, name, expected, field))


def read_stream(name: str) -> StreamName:
    """The parts of a stream's resource name.

    Raises:
        InputError: If it is malformed.
    """
    shape = "benchmarks/{benchmark}/submissions/{submission}/streams/{stream}"
    expected = f"{shape}, each {_ID_EXPECTED}"
    return StreamName(*_matched(_STREAM, name, expected, "stream"))


def read_token(name: str) -> str:
    """The last part of a token's resource name.

    Raises:
        InputError: If it is malformed.
    """
    return _matched(_TOKEN, name, "tokens/{token}", "name")[0]


def read_invitation(name: str) -> str:
    """The last part of an invitation's resource name.

    Raises:
        InputError: If it is malformed.
    """
    return _matched(_INVITATION, name, "invitations/{invitation}", "name")[0]


def read_operation(name: str) -> str:
    """The last part of an operation's resource name.

    Raises:
        InputError: If it is malformed.
    """
    return _matched(_OPERATION, name, "operations/{operation}", "name")[0]


def parse_id(text: str, field: str) -> str:
    """Check the last part of a name, chosen by a client.

    Raises:
        InputError: If it is invalid.
    """
    if _ID_PATTERN.fullmatch(text) is None:
        raise InputError([Fault(repr(text)[:80], _ID_EXPECTED, field=field)])
    return text


def _matched(pattern: re.Pattern[str], name: str, expected: str, field: str) -> tuple[str, ...]:
    match = pattern.fullmatch(name)
    if match is None:
        # If a caller passes a token's secret as its name, no message or log may show it.
        found = "a secret" if SECRET_PREFIX in name else repr(name)[:80]
        raise InputError([Fault(found, expected, field=field)])
    return match.groups()


# --- Strings for people: without control characters, which a terminal would execute
#
# Texts of participants and organisers are shown to others, on terminals and in files. Texts that an
# older version has stored are read unchanged; the code that shows them escapes them.


def parse_string(text: str, field: str, most: int = MAXIMUM_TEXT_LENGTH) -> str:
    """Check a text for people from a client.

    Raises:
        InputError: If it is too long, or holds control characters.
    """
    faults = string_faults(text, field, most)
    if faults:
        raise InputError(faults)
    return text

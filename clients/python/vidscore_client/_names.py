"""Full resource names out of what people type: ``streets``, ``streets/run-7``."""

from __future__ import annotations

from collections.abc import Iterable

from vidscore_client.errors import InputError
from vidscore_client.frames import text

DEFAULT_STREAM = "default"
SECRET_PREFIX = "vidscore_"  # noqa: S105 - how all of them begin


def benchmark_name(benchmark: str) -> str:
    """``benchmarks/{benchmark}``, from itself or its last part.

    Raises:
        InputError: If it is neither.
    """
    return f"benchmarks/{_parts('benchmark', benchmark, ('benchmarks',))[0]}"


def submission_name(submission: str) -> str:
    """``benchmarks/{b}/submissions/{s}``, from itself or ``{b}/{s}``.

    Raises:
        InputError: If it is neither.
    """
    benchmark, own = _parts("submission", submission, ("benchmarks", "submissions"))
    return f"benchmarks/{benchmark}/submissions/{own}"


def submission_names(submissions: Iterable[str]) -> list[str]:
    """Names of several submissions.

    Raises:
        InputError: If it is one string, or one is no name.
    """
    if isinstance(submissions, str):
        raise InputError("submissions", "one text", "a list of names")
    return [submission_name(submission) for submission in submissions]


def token_name(token: str) -> str:
    """``tokens/{token}``, from itself or its last part.

    Raises:
        InputError: If it is neither; a secret is not sent, and not repeated either.
    """
    if is_secret(text("token", token)):
        raise InputError("token", "a secret", "the token's name, which is no secret")
    return f"tokens/{_parts('token', token, ('tokens',))[0]}"


def is_secret(name: str) -> bool:
    """Whether a name is, or looks like the beginning of, a token's secret."""
    return name.strip().rpartition("/")[2].startswith(SECRET_PREFIX)


def _parts(argument: str, name: str, collections: tuple[str, ...]) -> list[str]:
    parts = text(argument, name).split("/")
    if len(parts) == 2 * len(collections) and tuple(parts[::2]) == collections:
        parts = parts[1::2]
    if len(parts) != len(collections) or not all(parts):
        shown = "/".join("{" + word.removesuffix("s") + "}" for word in collections)
        raise InputError(argument, repr(name)[:80], f"a name as {shown}")
    return parts

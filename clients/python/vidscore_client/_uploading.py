"""Requests that the caller's own data fills, whose errors grpc would swallow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

Request = TypeVar("Request")


class Kept(Generic[Request]):
    """Requests as they are made; what making them raises is kept.

    Args:
        requests: The requests.
    """

    def __init__(self, requests: Iterator[Request]) -> None:
        """Make none yet."""
        self._requests = requests
        self._error: BaseException | None = None

    def raise_error(self) -> None:
        """Raise what making a request has raised, if it has."""
        if self._error is not None:
            raise self._error

    def __iter__(self) -> Iterator[Request]:
        return self

    def __next__(self) -> Request:
        try:
            return next(self._requests)
        except StopIteration:
            raise
        except BaseException as error:
            self._error = error
            raise

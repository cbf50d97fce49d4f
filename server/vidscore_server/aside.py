"""Run what takes long beside the event loop, and what is short on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

LARGE = 10_000
"""Frames, objects or rows from which on work is done aside, which is a few milliseconds of it.

Less would wait longer for the interpreter's lock in its thread than it takes.
"""


async def aside(
    size: int,
    function: Callable[Arguments, Result],
    *args: Arguments.args,
    **kwargs: Arguments.kwargs,
) -> Result:
    """Call a function, in a thread where its work is large.

    Args:
        size: Rows that the function goes through.
        function: The function.
        args: Its arguments.
        kwargs: Its arguments by name.
    """
    if size < LARGE:
        return function(*args, **kwargs)
    return await asyncio.to_thread(function, *args, **kwargs)

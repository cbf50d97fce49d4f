"""An executor of Dask: a running cluster, or new processes on this machine."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager

import click

from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import MissingExtraError
from vidscore_evaluators.runtime import spawn_context, terminal_signals_blocked

CONNECT_TIMEOUT_S = 10
"""Seconds to wait for a scheduler that does not answer."""


class ClusterLostError(click.ClickException):
    """The cluster cannot be reached, or is lost."""

    exit_code = ExitCode.UNREACHABLE


@contextmanager
def dask_executor(address: str | None, workers: int | None) -> Iterator[Executor]:
    """Connect to a scheduler, or start a cluster that ends with the context.

    Args:
        address: Address of the scheduler; None for a cluster of this machine.
        workers: Processes of such a cluster; None for one per processor.

    Raises:
        MissingExtraError: If Dask is not installed.
        OSError: If the scheduler cannot be reached.
        ClusterLostError: If the cluster of this machine cannot start.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtraError("scores by --dask", "distributed", "dask") from None
    # One error reports lost connections, instead of Dask's log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if address is not None:
        with Client(address, timeout=CONNECT_TIMEOUT_S, set_as_default=False) as client:
            yield client.get_executor(pure=False)
        return
    spawn_context()  # for Dask's processes, too
    with terminal_signals_blocked():  # also in the thread that starts processes
        try:
            cluster = LocalCluster(
                n_workers=workers or os.cpu_count() or 1,
                threads_per_worker=1,
                dashboard_address=None,
                # Even without a dashboard, a scheduler serves a page: use a free port.
                scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                silence_logs=logging.CRITICAL,
            )
        except RuntimeError as error:  # its cause stays in the process that could not start
            raise ClusterLostError(
                f"the Dask cluster cannot start on this machine ({error}): it may lack memory, or "
                "room in /dev/shm; --workers without --dask needs less"
            ) from error
    with cluster, Client(cluster, set_as_default=False) as client:
        yield client.get_executor(pure=False)


@contextmanager
def naming_losses(run_folder: str | None) -> Iterator[None]:
    """Report a lost cluster in one error, with how to continue.

    Args:
        run_folder: Folder of finished shards; None for none.

    Raises:
        ClusterLostError: If it is lost.
    """
    advice = (
        "with --run-folder, a second run continues where this one ended"
        if run_folder is None
        else "run the same command again: finished shards are kept in the run folder"
    )
    try:
        yield
    except (CancelledError, TimeoutError, ConnectionError) as error:
        raise ClusterLostError(f"the Dask cluster was lost; {advice}") from error
    except OSError as error:
        if error.filename is not None:
            raise
        raise ClusterLostError(f"the Dask cluster cannot be reached: {error}") from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("dask", "distributed"):
            raise
        raise ClusterLostError(f"the Dask cluster has given up: {error}; {advice}") from error

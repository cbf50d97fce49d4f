"""The hosted benchmarks of a synchronous client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grpc

from vidscore.v1.organiser_pb2 import UploadTruthRequest
from vidscore_client._benchmark_operations import (
    RESCORING,
    create_benchmark,
    delete_benchmark,
    get_benchmark,
    get_leaderboard,
    list_benchmarks,
    list_truth_revisions,
    publish_leaderboard,
    rescore_submissions,
    truth_requests,
    update_benchmark,
)
from vidscore_client._definition import Definition
from vidscore_client._hosting_decoding import decode_truth_revision
from vidscore_client._long_work import LongWork
from vidscore_client._status import error_from_failure
from vidscore_client._uploading import Kept
from vidscore_client.frames import Frames
from vidscore_client.hosting import (
    Benchmark,
    Leaderboard,
    RescoreProgress,
    ScoreDifference,
    TruthRevision,
)
from vidscore_client.submissions import Run

OpenUpload = Callable[[Iterator[UploadTruthRequest], float | None], Any]
"""Makes a call of UploadTruth: takes the requests and the seconds it may take."""


class Benchmarks:
    """Hosted benchmarks; `vidscore_client.Client.benchmarks`.

    A definition is a table as a TOML file has it: the keys of a specification, and beside them
    ``truth_geometry``, ``detection_geometry``, ``open_time``, ``close_time`` and a table
    ``policy``.
    """

    def __init__(self, run: Run, open_upload: OpenUpload) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_upload: Makes a call of UploadTruth.
        """
        self._run = run
        self._open_upload = open_upload

    def create(self, benchmark: str, definition: Definition) -> Benchmark:
        """Create a benchmark. For organisers.

        Args:
            benchmark: Its name: 1 to 63 lower-case letters, digits and hyphens, a letter first.
            definition: What it is.

        Raises:
            InputError: If the definition has a key or a type that no definition has.
            InvalidArgumentError: If it is wrong otherwise; ``violations`` says where.
            ConflictError: If the name is taken.
            VidscoreError: If the call fails for another reason.
        """
        return self._run(create_benchmark(benchmark, definition))

    def get(self, benchmark: str) -> Benchmark:
        """One benchmark, as far as the caller may see it.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return self._run(get_benchmark(benchmark))

    def list(self) -> list[Benchmark]:
        """Every benchmark, in the order of their names.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_benchmarks())

    def update(self, benchmark: str, definition: Definition, *, replace: bool = False) -> Benchmark:
        """Change a benchmark. For organisers.

        Where evaluators or specification change, the server scores what is stored again:
        ``submissions_to_rescore`` says how much.

        Args:
            benchmark: The benchmark.
            definition: What is to change, by key; a table such as ``policy`` is given whole.
            replace: Whether what the definition does not name goes back to its default.

        Raises:
            InputError: If a shape of objects would change, or as `create`.
            VidscoreError: As `create`.
        """
        return self._run(update_benchmark(benchmark, definition, replace=replace))

    def delete(self, benchmark: str, *, force: bool = False) -> None:
        """Delete a benchmark with its truth, submissions and scores. For organisers.

        Args:
            benchmark: The benchmark.
            force: Whether to delete it even where it has submissions.

        Raises:
            ConflictError: If it has submissions, and `force` is not set.
            VidscoreError: If the call fails.
        """
        self._run(delete_benchmark(benchmark, force=force))

    def upload_truth(
        self,
        benchmark: str,
        batches: Iterable[Frames],
        *,
        merge: bool = False,
        complete: bool = True,
        comment: str = "",
        timeout_s: float | None = None,
    ) -> TruthRevision:
        """Add a revision of the truth: all frames of the upload, or nothing. For organisers.

        Args:
            benchmark: The benchmark.
            batches: Frames of truth; may be a generator.
            merge: Whether the newest revision's other frames are kept.
            complete: Whether the truth is complete; else submissions wait for more of it.
            comment: Why there is a new revision, for the record.
            timeout_s: Seconds that it may take; None for no limit.

        Raises:
            InvalidArgumentError: If the server refuses the truth.
            VidscoreError: If the upload fails for another reason.
        """
        requests = Kept(
            truth_requests(benchmark, batches, merge=merge, complete=complete, comment=comment)
        )
        try:
            response = self._open_upload(requests, timeout_s)
        except grpc.RpcError as failure:
            requests.raise_error()
            raise error_from_failure(failure) from failure
        return decode_truth_revision(response.revision)

    def truth_revisions(self, benchmark: str) -> TruthRevisions:
        """Revisions of the truth, newest first: numbers and digests, no truth. For organisers.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_truth_revisions(benchmark))

    def leaderboard(
        self,
        benchmark: str,
        *,
        evaluator: str = "",
        domain: str | None = None,
        class_: str | None = None,
    ) -> Leaderboard:
        """Submissions in rank order.

        Args:
            benchmark: The benchmark.
            evaluator: Evaluator that ranks; empty: the first of the specification.
            domain: Domain; None for all together.
            class_: Class; None for all together.

        Raises:
            ConflictError: If the policy does not release such a board.
            VidscoreError: If the call fails.
        """
        return self._run(get_leaderboard(benchmark, evaluator, domain, class_))

    def publish_leaderboard(
        self, benchmark: str, *, validate_only: bool = False
    ) -> ScoreDifferences:
        """Move a board to the scores that wait for it. For organisers, where they review it.

        Args:
            benchmark: The benchmark.
            validate_only: Whether only the differences are wanted, and nothing is to be moved.

        Raises:
            ConflictError: While submissions are still to be scored again.
            VidscoreError: If the call fails.
        """
        return self._run(publish_leaderboard(benchmark, validate_only=validate_only))

    def rescore(
        self, benchmark: str, submissions: Iterable[str] = (), *, comment: str = ""
    ) -> Rescoring:
        """Begin to score stored detections again, beside the scores there are. For organisers.

        What a board needs is scored again without it; this is to try once more what could not be.

        Args:
            benchmark: The benchmark.
            submissions: Submissions to score again; none: all that have a score.
            comment: Why, for the record.

        Raises:
            VidscoreError: If the call fails.
        """
        status = self._run(rescore_submissions(benchmark, submissions, comment))
        return Rescoring(self._run, RESCORING, status)

    def rescoring(self, name: str) -> Rescoring:
        """A re-scoring that was begun before, by the name of its operation.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return Rescoring(self._run, RESCORING, self._run(RESCORING.get(name)))


TruthRevisions = list[TruthRevision]
ScoreDifferences = list[ScoreDifference]


class Rescoring(LongWork[RescoreProgress, list[ScoreDifference]]):
    """A re-scoring that runs on the server; made by `Benchmarks.rescore`.

    Cancelled, it ends before its next submission; what is scored stays.
    """

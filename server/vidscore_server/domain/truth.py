"""Truth: uploaded as a whole or not at all, in revisions that never change."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.names import counted
from vidscore_server.domain.basis import board_state
from vidscore_server.domain.batches import (
    DAMAGED,
    frame_names,
    pack,
    unpack,
    unpacked,
)
from vidscore_server.domain.benchmarks import from_json, required_benchmark, to_json, with_truth_of
from vidscore_server.domain.context import Context, Request, audit_server
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leases import Leases
from vidscore_server.domain.loading import Part, in_parts, load_in_parts
from vidscore_server.domain.names import benchmark_name, parse_string
from vidscore_server.domain.private_part import settle
from vidscore_server.domain.truth_upload import Contents, TruthUpload, UploadPlan, contents_of
from vidscore_server.errors import NotFoundError
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import BenchmarkRecord, TruthRevisionRecord

KEPT_REVISIONS = 2
"""Revisions whose columns stay in memory: submissions are mostly scored against the newest."""

DRAW_PURPOSE = "draw of private sequences"
"""Purpose of the key, derived from the server's secret, that draws the private sequences."""

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Placeholder time of rows that nobody sees yet."""


class _BaseMovedError(Exception):
    """The base of the merge is no longer the newest revision."""


class _MergedUpload(Struct, frozen=True):
    """A revision that is ready to be stored.

    Attributes:
        base: Base of the merge: time of the benchmark's creation, and its newest revision.
        kept: Stored form of the batches kept from the revision that it was merged with.
        added: Stored form of the batches of the upload.
        frame_count: Number of its frames.
        digest: Fingerprint of its annotations.
        arity: Coordinates per object; None if unspecified.
        contents: Counts of its objects and labels.
    """

    base: tuple[datetime, int]
    kept: list[bytes]
    added: Iterable[bytes]
    frame_count: int
    digest: str
    arity: int | None
    contents: Contents


class TruthStore:
    """The truth of a site's benchmarks; the most recently used columns stay in memory."""

    def __init__(self, context: Context, leases: Leases) -> None:
        self._context = context
        self._leases = leases
        self._kept: OrderedDict[tuple[str, int, str], Annotations] = OrderedDict()

    async def commit(
        self, request: Request, plan: UploadPlan, upload: TruthUpload
    ) -> tuple[TruthRevisionRecord, int]:
        """Make a revision of an upload, or find the one that the same request has made.

        Args:
            request: The request.
            plan: What the upload is for.
            upload: Its frames.

        Returns:
            The revision, and the number of scored submissions to score again under it.

        Raises:
            LimitError: If the merged truth has too many frames.
            InputError: If it does not fit the policy's private sequences.
            GeometryError: If another upload has settled another shape meanwhile.
        """
        parse_string(plan.comment, "header.comment")
        while True:
            merged = await self._context.read(lambda reader: self._merge(reader, plan, upload))
            show = partial(self._show, request=request, plan=plan, merged=merged, upload=upload)
            stored = in_parts(chain(merged.kept, merged.added), len)
            parts = partial(revision_parts, to_json(upload.definition), stored)
            try:
                return await load_in_parts(self._context, self._leases, parts, show)
            except _BaseMovedError:
                continue  # another upload was faster: merge with its revision

    def _merge(self, reader: Reader, plan: UploadPlan, upload: TruthUpload) -> _MergedUpload:
        """Merge the upload with the newest revision; outside the writer, so that nobody waits."""
        benchmark, codec = required_benchmark(reader, plan.benchmark), self._context.codec
        base = (benchmark.create_time, benchmark.truth_revision)
        before: list[bytes] = []
        frames, digest = len(upload.frames), upload.digest
        contents = upload.contents
        if plan.merge and benchmark.truth_revision:
            definition = with_truth_of(benchmark, upload.arity)
            arity = definition.arity(Side.TRUTH)
            for payload in reader.truth_payloads(plan.benchmark, benchmark.truth_revision):
                batch = codec.read_stored_batches([unpack(payload)], arity)
                kept = _without(batch, upload)
                if kept.frame_count:
                    whole = kept.frame_count == batch.frame_count
                    data = payload if whole else pack(codec.data_of(codec.write_batch(kept)))[0]
                    before.append(data)
                frames += kept.frame_count
                digest += fingerprint(kept)
                contents += contents_of(kept)
        return _MergedUpload(
            base, before, upload.payloads, frames, str(digest), upload.arity, contents
        )

    def _show(
        self,
        transaction: Transaction,
        hidden: str,
        *,
        request: Request,
        plan: UploadPlan,
        merged: _MergedUpload,
        upload: TruthUpload,
    ) -> tuple[TruthRevisionRecord, int]:
        """Make a revision of the truth loaded under a hidden name."""

        def make() -> str:
            benchmark = required_benchmark(transaction, plan.benchmark)
            if plan.merge and merged.base != (benchmark.create_time, benchmark.truth_revision):
                raise _BaseMovedError
            found = f"{merged.frame_count} frames of truth"
            self._context.settings.check_limit("maximum_frames", merged.frame_count, found)
            number = benchmark.truth_revision + 1
            revision = TruthRevisionRecord(
                benchmark=plan.benchmark,
                revision=number,
                digest=merged.digest,
                create_time=request.time,
                frame_count=merged.frame_count,
                complete=plan.complete,
                comment=plan.comment,
                object_count=merged.contents.objects,
                sequence_count=len(merged.contents.judged),
                label_count=len(merged.contents.labels),
            )
            transaction.show_truth_revision(hidden, revision)
            before = with_truth_of(benchmark, merged.arity)
            settled = self._settled(plan, before, merged.contents.judged)
            if settled.draw != before.draw:
                drawn = counted(settled.private_sequence_count, "sequence")
                name = benchmark_name(plan.benchmark)
                audit_server(transaction, request.time, "private sequences drawn", name, drawn)
            changed = replace(benchmark, truth_revision=number, definition=to_json(settled))
            transaction.update_benchmark(
                replace(changed, update_time=request.time, revision=benchmark.revision + 1)
            )
            request.audit(transaction, benchmark_name(plan.benchmark), f"revision {number}")
            return str(number)

        number = int(request.once(transaction, make))
        revision = required_revision(transaction, plan.benchmark, number)
        benchmark = required_benchmark(transaction, plan.benchmark)
        state = board_state(transaction, upload.definition, benchmark)
        return revision, len(state.waiting) if state.is_under(number) else 0

    def _settled(
        self, plan: UploadPlan, definition: Definition, objects: Counter[SequenceKey]
    ) -> Definition:
        """The definition with everything that a complete truth settles."""
        if not plan.complete:
            return definition
        listed = {entry.key: 0 for entry in definition.specification.sequences}
        found = settle(
            definition.policy,
            definition.draw,
            {**listed, **objects},
            lambda: self._context.keyed(plan.benchmark, DRAW_PURPOSE),
        )
        return replace(
            definition, truth_size=found.size, private_names=found.names, draw=found.draw
        )

    def load(self, reader: Reader, benchmark: str, revision: int, arity: int) -> Annotations:
        """The columns of a revision.

        Args:
            reader: A state of the store.
            benchmark: The benchmark.
            revision: Its number; 0 is the empty truth.
            arity: Coordinates that an object has.

        Raises:
            StoreDamagedError: If what is stored is not what was uploaded.
        """
        record = reader.truth_revision(benchmark, revision)
        key = (benchmark, revision, "" if record is None else record.create_time.isoformat())
        found = self._kept.get(key)
        if found is None:
            found = self._stored(reader, benchmark, revision, arity)
            if record is not None and str(fingerprint(found)) != record.digest:
                raise StoreDamagedError(f"{DAMAGED}: truth revision {revision} of {benchmark}")
            self._kept[key] = found
            while len(self._kept) > KEPT_REVISIONS:
                self._kept.popitem(last=False)
        return found

    async def read(self, benchmark: str, revision: int) -> tuple[int, Annotations | None]:
        """A revision for its organisers.

        Args:
            benchmark: The benchmark.
            revision: The revision; 0 for the newest.

        Returns:
            Its number, and its columns; None if no batch has settled their shape.

        Raises:
            NotFoundError: If there is no such benchmark or revision.
            StoreDamagedError: If what is stored is not what was uploaded.
        """

        def look(reader: Reader) -> tuple[int, Annotations | None]:
            parent = required_benchmark(reader, benchmark)
            number = revision or parent.truth_revision
            if reader.truth_revision(benchmark, number) is None:
                named = f"truth revision {number}" if number else "truth"
                raise NotFoundError(f"{benchmark_name(benchmark)} has no {named}")
            arity = from_json(parent.definition).truth_arity
            return number, None if arity is None else self.load(reader, benchmark, number, arity)

        return await self._context.read(look)

    def _stored(self, reader: Reader, benchmark: str, revision: int, arity: int) -> Annotations:
        payloads = reader.truth_payloads(benchmark, revision)
        batches = unpacked((payload, None) for payload in payloads)
        return self._context.codec.read_stored_batches(batches, arity)


def revision_parts(
    definition: str, parts: Iterable[Sequence[bytes]], hidden: str
) -> Iterator[Part]:
    """Yield the commands that load a revision as the first one of a hidden benchmark, in parts.

    Args:
        definition: The stored form of the benchmark's definition: a server of 0.2.0 over the same
            database reads those of all rows.
        parts: Its batches in their stored form.
        hidden: The hidden benchmark.
    """
    benchmark = BenchmarkRecord(hidden, definition, None, None, NEVER, NEVER)
    revision = TruthRevisionRecord(hidden, 1, "", NEVER, 0, complete=False, comment="")

    def begin(transaction: Transaction) -> None:
        transaction.insert_benchmark(benchmark)
        transaction.insert_truth_revision(revision)

    yield begin
    first = 0
    for payloads in parts:
        yield partial(_add, hidden, first, payloads)
        first += len(payloads)


def _add(hidden: str, first: int, payloads: Sequence[bytes], transaction: Transaction) -> None:
    transaction.add_truth_batches(hidden, 1, first, payloads)


def required_revision(reader: Reader, benchmark: str, revision: int) -> TruthRevisionRecord:
    """A revision that must exist."""
    record = reader.truth_revision(benchmark, revision)
    if record is None:
        raise LookupError(f"truth revision {revision}")
    return record


def _without(truth: Annotations, upload: TruthUpload) -> Annotations:
    """The frames of the truth that an upload does not replace."""
    kept = [name not in upload.frames for name in frame_names(truth)]
    return truth.take_frames(np.array(kept, dtype=np.bool_))

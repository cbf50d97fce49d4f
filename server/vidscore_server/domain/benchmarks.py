"""Create, change and delete benchmarks; read each revision's definition once."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping
from datetime import datetime

import orjson
from msgspec.structs import asdict, replace

from vidscore_evaluators.errors import Fault, SpecificationError, VidscoreError
from vidscore_evaluators.names import blank_faults, control_faults, counted
from vidscore_server.domain.access import UNSIGNED, Caller
from vidscore_server.domain.basis import board_state
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.definition import Definition, definition_from_dict, definition_to_dict
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import TruthSize, Visibility, default_budget
from vidscore_server.domain.private_part import Draw, Portion
from vidscore_server.domain.publishing import publish_anew, release_what_was_shown
from vidscore_server.domain.release import releases_differ, sees_benchmark
from vidscore_server.errors import (
    EtagDiffersError,
    HasSubmissionsError,
    NameTakenError,
    NotFoundError,
    PolicyFixedError,
    UnauthenticatedError,
)
from vidscore_server.logs import log, places_of
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import BenchmarkRecord

MAXIMUM_KEPT = 100

_TRUTH_SIZE, _PRIVATE_NAMES, _DRAW = "truth_size", "private_names", "draw"


class OvertakenError(Exception):
    """A benchmark has changed since its new definition was made from its old one."""


class Benchmarks:
    """The benchmarks of a site."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._definitions: dict[tuple[str, str], Definition] = {}
        self._not_understood: set[tuple[str, str]] = set()

    def definition(self, record: BenchmarkRecord) -> Definition:
        """The definition of a benchmark."""
        key = (record.benchmark, record.definition)
        found = self._definitions.get(key)
        if found is None:
            found = from_json(record.definition)
            if len(self._definitions) >= MAXIMUM_KEPT:
                self._definitions.clear()
            self._definitions[key] = found
        return found

    def understood(self, record: BenchmarkRecord) -> Definition | None:
        """The definition of a benchmark in a list; None if this server does not understand it.

        For example, an evaluator may not be installed. It is logged once; other benchmarks still
        work.
        """
        try:
            return self.definition(record)
        except (VidscoreError, ValueError) as error:
            key = (record.benchmark, record.definition)
            if key not in self._not_understood:
                self._not_understood.add(key)
                name, places = benchmark_name(record.benchmark), places_of(error)
                log(logging.ERROR, "benchmark not understood", benchmark=name, places=places)
            return None

    def seen(self, reader: Reader, benchmark: str, caller: Caller) -> BenchmarkRecord:
        """A benchmark that the caller may see.

        Raises:
            NotFoundError: If there is none.
            UnauthenticatedError: If a caller without a token asks for one that is not public or
                does not exist; the error does not tell which.
        """
        record = reader.benchmark(benchmark)
        if record is None or not sees_benchmark(caller, self.definition(record).policy):
            if caller.role is None:
                raise UnauthenticatedError(UNSIGNED)
            raise NotFoundError(_absent(benchmark))
        return record

    def listed(
        self, reader: Reader, after: str, limit: int, caller: Caller
    ) -> list[BenchmarkRecord]:
        """Benchmarks that the caller may see, with names after `after`, sorted by name.

        Benchmarks that this server does not understand are omitted.
        """
        found: list[BenchmarkRecord] = []
        while True:
            records = reader.benchmarks(after, limit)
            found += [
                record
                for record in records
                if (definition := self.understood(record)) is not None
                and sees_benchmark(caller, definition.policy)
            ]
            if len(records) < limit or len(found) >= limit:
                return found[:limit]
            after = records[-1].benchmark

    async def create(
        self, request: Request, benchmark: str, definition: Definition
    ) -> BenchmarkRecord:
        """Create a benchmark, or find the one that the same request has created.

        Raises:
            NameTakenError: If the name is taken.
            SpecificationError: If a title or name holds control characters, or it has closed.
        """
        refuse_unreadable_texts(definition)
        record = BenchmarkRecord(
            benchmark=benchmark,
            definition=to_json(definition),
            open_time=definition.open_time,
            close_time=definition.close_time,
            create_time=request.time,
            update_time=request.time,
        )

        def make(transaction: Transaction) -> str:
            _refuse_closed(definition, request.time)
            try:
                transaction.insert_benchmark(record)
            except AlreadyExistsError:
                raise NameTakenError(f"{benchmark_name(benchmark)} already exists") from None
            request.audit(transaction, benchmark_name(benchmark))
            return benchmark

        def command(transaction: Transaction) -> BenchmarkRecord:
            name = request.once(transaction, lambda: make(transaction))
            return required_benchmark(transaction, name)

        return await self._context.write(command)

    async def update(
        self, request: Request, record: BenchmarkRecord, definition: Definition, etag: str = ""
    ) -> tuple[BenchmarkRecord, int]:
        """Replace the definition of `record`.

        Releases on the board follow the new policy at once.

        Args:
            request: The request.
            record: The benchmark, as it was read for the new definition.
            definition: Its new definition.
            etag: The expected `etag` of the stored benchmark; empty: not checked.

        Returns:
            The benchmark, and the number of submissions to score again by its new rules.

        Raises:
            EtagDiffersError: If the benchmark has another etag.
            OvertakenError: If its definition has changed since it was read.
            NotFoundError: If there is no such benchmark.
            PolicyFixedError: If it changes a field that can no longer change.
            SpecificationError: If a title or name holds control characters.
        """
        return await self._context.write(
            lambda transaction: self.change(transaction, request, record, definition, etag)
        )

    def change(
        self,
        transaction: Transaction,
        request: Request,
        record: BenchmarkRecord,
        definition: Definition,
        etag: str,
    ) -> tuple[BenchmarkRecord, int]:
        """The work of `update`, within a command."""
        refuse_unreadable_texts(definition)
        present = required_benchmark(transaction, record.benchmark)
        self._refuse_changed(present, etag)
        if (present.create_time, present.definition) != (record.create_time, record.definition):
            raise OvertakenError
        before = self.definition(present)
        _refuse_fixed(transaction, present, before, definition, request)
        after = replace(
            definition,
            truth_size=before.truth_size,
            private_names=before.private_names,
            draw=before.draw,
        )
        changed = replace(
            present,
            definition=to_json(after),
            open_time=definition.open_time,
            close_time=definition.close_time,
            update_time=request.time,
            revision=present.revision + 1,
        )
        transaction.update_benchmark(changed)
        if before.policy.shown is Visibility.FINAL and after.policy.shown.is_ladder:
            release_what_was_shown(transaction, before, record.benchmark)
        if releases_differ(before, after):
            publish_anew(transaction, after, changed, request.time)
        request.audit(transaction, benchmark_name(record.benchmark))
        return changed, len(board_state(transaction, after, changed).waiting)

    def etag(self, record: BenchmarkRecord) -> str:
        """Identifies the stored fields that an update may change; keyed like digests of truth."""
        stored = self.definition(record)
        definition = replace(stored, truth_size=None, private_names=(), draw=None)
        content = f"{to_json(definition)}/{record.open_time}/{record.close_time}"
        return self._context.keyed(record.benchmark, hashlib.sha256(content.encode()).hexdigest())

    def _refuse_changed(self, present: BenchmarkRecord, etag: str) -> None:
        if etag and etag != self.etag(present):
            raise EtagDiffersError(
                f"{benchmark_name(present.benchmark)} was changed after its etag was read; read it "
                "again, then repeat the request with its new etag"
            )

    async def delete(
        self, request: Request, benchmark: str, *, force: bool, etag: str = ""
    ) -> None:
        """Delete a benchmark with all that belongs to it.

        Args:
            request: The request.
            benchmark: The benchmark.
            force: Whether to delete it even if it has submissions.
            etag: Its expected `etag`; empty: not checked.

        Raises:
            EtagDiffersError: If the benchmark has another etag.
            NotFoundError: If there is no such benchmark.
            HasSubmissionsError: If it has submissions and `force` is not set.
        """

        def command(transaction: Transaction) -> None:
            self._refuse_changed(required_benchmark(transaction, benchmark), etag)
            if not force and transaction.submissions(benchmark, None, None, 1):
                raise HasSubmissionsError(
                    f"{benchmark_name(benchmark)} has submissions; `force` deletes them too"
                )
            transaction.delete_benchmark(benchmark)
            request.audit(transaction, benchmark_name(benchmark))

        await self._context.write(command)


def required_benchmark(reader: Reader, benchmark: str) -> BenchmarkRecord:
    """One benchmark.

    Raises:
        NotFoundError: If there is none of that name.
    """
    record = reader.benchmark(benchmark)
    if record is None:
        raise NotFoundError(_absent(benchmark))
    return record


def _absent(benchmark: str) -> str:
    return f"{benchmark_name(benchmark)} does not exist"


def with_truth_of(record: BenchmarkRecord, arity: int | None) -> Definition:
    """A benchmark's definition once there is truth; see `Definition.with_truth_of`."""
    return from_json(record.definition).with_truth_of(arity)


def to_json(definition: Definition) -> str:
    """The stored form of a definition, including the values that its truth has settled."""
    kept = definition_to_dict(definition)
    if definition.truth_size is not None:
        kept[_TRUTH_SIZE] = asdict(definition.truth_size)
    if definition.private_names:
        kept[_PRIVATE_NAMES] = list(definition.private_names)
    if definition.draw is not None:
        kept[_DRAW] = asdict(definition.draw)
    return orjson.dumps(kept).decode()


def from_json(text: str) -> Definition:
    """Inverse of `to_json`.

    Raises:
        SpecificationError: If this server does not understand it.
    """
    kept = orjson.loads(text)
    size, names = kept.pop(_TRUTH_SIZE, None), kept.pop(_PRIVATE_NAMES, ())
    draw = kept.pop(_DRAW, None)
    return replace(
        definition_from_dict(kept),
        truth_size=size and TruthSize(**size),
        private_names=tuple(names),
        draw=draw and Draw(**draw),
    )


def _refuse_closed(definition: Definition, now: datetime) -> None:
    """Refuse to create a benchmark to which nobody could ever submit.

    Raises:
        SpecificationError: If it has closed.
    """
    if definition.close_time is not None and definition.close_time <= now:
        found = f"{definition.close_time.isoformat()}, which has passed"
        expected = "a time to come, or none"
        raise SpecificationError([Fault(found, expected, field="close_time")])


def _refuse_fixed(
    reader: Reader,
    record: BenchmarkRecord,
    before: Definition,
    after: Definition,
    request: Request,
) -> None:
    """Refuse a change of fields on which scores or promises already depend.

    Raises:
        PolicyFixedError: If there is one.
    """
    old, new = before.policy, after.policy
    name = benchmark_name(record.benchmark)
    begun = bool(reader.submissions(record.benchmark, None, None, 1))
    private = (old.private_sequences, old.private_share)
    if private != (new.private_sequences, new.private_share) and (
        begun or before.truth_size is not None
    ):
        raise PolicyFixedError(
            f"{name} has submissions or a complete truth, so that its private sequences stay as "
            "they are; create another benchmark for others",
            field="private_sequences",
        )
    if begun and new.shown is Visibility.BOOTSTRAP is not old.shown:
        raise PolicyFixedError(
            f"{name} has submissions that were scored without an estimate; visibility = "
            "'bootstrap' must be chosen before the first one",
            field="visibility",
        )
    portions = [entry.board_portion(request.time) for entry in (before, after)]
    reopens = portions[0] is Portion.PRIVATE is not portions[1]
    if reopens and reader.scored_submissions(record.benchmark):
        raise PolicyFixedError(
            f"{name} has closed and shows its private part; it cannot be opened again",
            field="close_time",
        )


def refuse_unreadable_texts(definition: Definition) -> None:
    """Refuse a benchmark with control characters in a text, or a title that cannot be seen.

    Raises:
        SpecificationError: With every fault.
    """
    faults = [
        fault
        for field, text in _texts(definition_to_dict(definition), "")
        for fault in control_faults(_line(text) if field == "description" else text, field)
    ]
    faults += blank_faults(definition.specification.title, "title")
    if faults:
        raise SpecificationError(faults)


def _line(text: str) -> str:
    """A text with its lines joined."""
    return text.replace("\n", " ").replace("\t", " ")


def _texts(value: object, field: str) -> Iterator[tuple[str, str]]:
    """Every text of a document, with its place."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _texts(entry, f"{field}.{key}" if field else str(key))
    elif isinstance(value, list):
        for row, entry in enumerate(value):
            yield from _texts(entry, f"{field}[{row}]")


# --- Warnings about what a policy reveals of the truth

RATIO_CHANGE = 2.0
"""Upper bound on n times the change of a score by one of n objects: F1 changes by at most 2 / n."""


def policy_warnings(definition: Definition) -> list[str]:
    """Warnings for the organiser; some need the size of the truth, once it is complete."""
    return [
        *_without_budget(definition),
        *_fine_step(definition),
        *_small_truth(definition),
        *_shown_outcomes(definition),
        *_never_final(definition),
        *_told_private(definition),
        *_released_curves(definition),
    ]


def _without_budget(definition: Definition) -> Iterator[str]:
    if definition.submission_budget:
        return
    size = definition.truth_size
    default = "" if size is None else f" ({default_budget(size.objects, size.sequences)})"
    yield (
        "a team may have any number of submissions in all: with enough of them it reads the "
        "ground truth out of its scores; submissions_in_all = -1 lets it have as many as the "
        f"ground truth allows{default}"
    )


def _shown_outcomes(definition: Definition) -> Iterator[str]:
    if definition.policy.shows_own_outcomes:
        yield (
            "outcomes = 'own' tells a team whether each of its detections is right: a submission "
            "with many detections locates objects of the ground truth, however few submissions "
            "there are; outcomes = 'none' reveals none of this"
        )


def _released_curves(definition: Definition) -> Iterator[str]:
    if definition.policy.release_curves and definition.policy.shown is not Visibility.LIVE:
        yield (
            "release_curves = true shows a team the score at every point of each curve: each "
            "submission reveals many scores over the ground truth; without curves it reveals one"
        )


def _never_final(definition: Definition) -> Iterator[str]:
    if definition.policy.keeps_private and definition.close_time is None:
        yield (
            "there are private sequences but no close_time: until the benchmark closes no score "
            "over them is released, and there is no final order"
        )


def _told_private(definition: Definition) -> Iterator[str]:
    policy = definition.policy
    if policy.keeps_private and (policy.shown is Visibility.LIVE or policy.shows_own_outcomes):
        cause = "outcomes = 'own'" if policy.shows_own_outcomes else "visibility = 'live'"
        yield (
            f"{cause} shows teams which sequences are private: those for which their submissions "
            "have no score or outcome"
        )


def _fine_step(definition: Definition) -> Iterator[str]:
    policy, size = definition.policy, definition.truth_size
    if policy.shown is Visibility.LIVE or size is None or not policy.ladder_step:
        return
    for evaluator in definition.evaluators:
        needed = definition.step_from_truth(evaluator)
        first = next(iter(definition.scales(evaluator)), None)
        if first is not None and policy.ladder_step < needed:
            over = f"{counted(size.sequences, 'sequence')} with {counted(size.objects, 'object')}"
            yield (
                f"ladder_step = {policy.ladder_step:g} is finer than {needed:g}, the standard "
                f"error of {first} of {evaluator.name} over {over}: the board moves by chance, and "
                "a team that submits again and again overfits it; ladder_step = 0 uses this "
                "standard error"
            )


def _small_truth(definition: Definition) -> Iterator[str]:
    policy, size = definition.policy, definition.truth_size
    if policy.shown is Visibility.LIVE or size is None or not size.objects:
        return
    for evaluator in definition.evaluators:
        first, scale = next(iter(definition.scales(evaluator).items()), (None, None))
        if scale is None:
            continue
        one = "the only object" if size.objects == 1 else f"one of the {size.objects} objects"
        worth = RATIO_CHANGE * scale.span / size.objects
        step = definition.step(evaluator)
        if worth > step:
            yield (
                f"{one} of the ground truth changes {first} of "
                f"{evaluator.name} by up to {worth:.2g}, more than the step "
                f"{step:g}: a team sees in its score whether it has found one more; "
                f"use a ladder_step of {worth:.2g} or more, or rely on submissions_in_all"
            )

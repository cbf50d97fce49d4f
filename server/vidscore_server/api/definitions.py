"""Benchmarks, their policies and truth revisions to messages and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, organiser_pb2
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.api.batches import ARITY_OF_GEOMETRY, GEOMETRY_OF_ARITY, geometry_name
from vidscore_server.api.convert import (
    read_seconds,
    read_specification,
    read_time,
    write_duration,
    write_specification,
    write_time,
)
from vidscore_server.api.live_messages import read_live_table, write_live
from vidscore_server.domain.definition import NAME_OF_ARITY, Definition, check_definition
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import NameKind, Policy, in_order
from vidscore_server.domain.quotas import Quota
from vidscore_server.store.records import BenchmarkRecord, TruthRevisionRecord

PATH = "benchmark"

_VISIBILITIES = {"ladder": benchmark_pb2.VISIBILITY_LADDER, "final": benchmark_pb2.VISIBILITY_FINAL,
                 "live": benchmark_pb2.VISIBILITY_LIVE,
                 "bootstrap": benchmark_pb2.VISIBILITY_BOOTSTRAP}  # fmt: skip
_QUIET_ACTIONS = {
    "seal": benchmark_pb2.QUIET_ACTION_SEAL,
    "cancel": benchmark_pb2.QUIET_ACTION_CANCEL,
}
_SELECTIONS = {"best": benchmark_pb2.SELECTION_BEST, "latest": benchmark_pb2.SELECTION_LATEST}
_OUTCOMES = {
    "none": benchmark_pb2.OUTCOMES_SHOWN_NONE,
    "own": benchmark_pb2.OUTCOMES_SHOWN_OWN,
}
_RESCORES = {"automatic": benchmark_pb2.RESCORE_AUTOMATIC, "review": benchmark_pb2.RESCORE_REVIEW}

_ENUMERATIONS: Mapping[str, Mapping[str, int]] = {
    "visibility": _VISIBILITIES,
    "quiet_action": _QUIET_ACTIONS,
    "selection": _SELECTIONS,
    "rescore": _RESCORES,
    "outcomes": _OUTCOMES,
}
_NAME_KINDS = {
    NameKind.SEQUENCES: benchmark_pb2.NAME_KIND_SEQUENCES,
    NameKind.LABELS: benchmark_pb2.NAME_KIND_LABELS,
    NameKind.FRAME_COUNTS: benchmark_pb2.NAME_KIND_FRAME_COUNTS,
}
_DURATIONS = {"quiet_timeout": "quiet_timeout_s", "truth_timeout": "truth_timeout_s"}
_OPTIONAL = ("ladder_step", "minimum_frames", "public_board")
_PLAIN = (
    "submissions_per_day",
    "ranking_measure",
    "earlier_first",
    "public_board_web",
    "release_curves",
)


def read_definition(message: benchmark_pb2.Benchmark) -> Definition:
    """Check a benchmark that an organiser has sent.

    Raises:
        SpecificationError: With every fault.
    """
    faults: list[Fault] = []
    specification = BenchmarkSpec()
    try:
        specification = read_specification(message.specification, f"{PATH}.specification")
    except SpecificationError as error:
        faults.extend(error.faults)
    values: dict[str, Any] = {
        "policy": _read_policy(message.policy),
        "description": message.description,
    }
    for field in ("truth_geometry", "detection_geometry"):
        geometry = getattr(message, field)
        if geometry != annotations_pb2.GEOMETRY_UNSPECIFIED:
            arity = ARITY_OF_GEOMETRY.get(geometry)
            values[field] = geometry_name(geometry) if arity is None else NAME_OF_ARITY[arity]
    if message.HasField("public_names"):
        known = {number: kind.value for kind, number in _NAME_KINDS.items()}
        values["public_names"] = [
            known.get(number, f"kind {number}") for number in message.public_names.kinds
        ]
    if message.HasField("live"):
        values["live"] = read_live_table(message.live)
    for field in ("open_time", "close_time"):
        if message.HasField(field):
            try:
                values[field] = read_time(getattr(message, field), f"{PATH}.{field}")
            except InputError as error:
                faults.extend(error.faults)
    return check_definition(specification, values, PATH, faults)


def write_benchmark(record: BenchmarkRecord, definition: Definition) -> benchmark_pb2.Benchmark:
    """All of a benchmark as a message, but its truth's digest."""
    message = write_definition(definition)
    message.name = benchmark_name(record.benchmark)
    message.create_time.FromDatetime(record.create_time)
    message.update_time.FromDatetime(record.update_time)
    message.truth_revision = record.truth_revision
    message.submission_budget = definition.submission_budget
    message.ladder_step_in_force = definition.step(definition.evaluators[0])
    message.private_sequence_count = definition.private_sequence_count
    if definition.policy.private_share:
        message.policy.private_sequences.extend(definition.private_names)
    return message


def write_definition(definition: Definition) -> benchmark_pb2.Benchmark:
    """What an organiser defines of a benchmark as a message."""
    return benchmark_pb2.Benchmark(
        specification=write_specification(to_dict(definition.specification)),
        truth_geometry=_geometry(definition.truth_arity),
        detection_geometry=_geometry(definition.detection_arity),
        open_time=write_time(definition.open_time),
        close_time=write_time(definition.close_time),
        policy=write_policy(definition.policy),
        public_names=benchmark_pb2.PublicNames(
            kinds=[_NAME_KINDS[NameKind(kind)] for kind in in_order(definition.public_names)]
        ),
        description=definition.description,
        live=write_live(definition.live),
    )


def write_policy(policy: Policy) -> benchmark_pb2.Policy:
    """A policy as a message, with every default said."""
    return benchmark_pb2.Policy(
        visibility=_VISIBILITIES[policy.visibility],
        ladder_step=policy.ladder_step,
        released_measures=policy.released_measures,
        minimum_frames=policy.minimum_frames,
        quiet_timeout=write_duration(policy.quiet_timeout_s),
        quiet_action=_QUIET_ACTIONS[policy.quiet_action],
        truth_timeout=write_duration(policy.truth_timeout_s),
        submissions_per_day=policy.submissions_per_day,
        submissions_in_all=policy.submissions_in_all,
        unlimited_submissions=policy.submissions_in_all == 0,
        ranking_measure=policy.ranking_measure,
        selection=_SELECTIONS[policy.selection],
        earlier_first=policy.earlier_first,
        public_board=policy.public_board,
        public_board_web=policy.public_board_web,
        release_curves=policy.release_curves,
        rescore=_RESCORES[policy.rescore],
        outcomes=_OUTCOMES[policy.outcomes],
        private_sequences=policy.private_sequences,
        private_share=policy.private_share,
        final_submissions=policy.final_submissions,
    )


def keep_budget(message: benchmark_pb2.Policy, present: Policy) -> None:
    """Let a changed policy that does not say how many submissions there may be keep the number.

    A limit that nobody asked for would shut teams out of a benchmark that runs.
    """
    if not message.submissions_in_all and not message.unlimited_submissions:
        message.submissions_in_all = present.submissions_in_all
        message.unlimited_submissions = present.submissions_in_all == 0


def keep_private(message: benchmark_pb2.Policy, present: Policy) -> None:
    """Let a changed policy that does not say which sequences are private keep those that are."""
    if not message.private_sequences and not message.private_share:
        message.private_sequences.extend(present.private_sequences)
        message.private_share = present.private_share


def write_truth_revision(
    record: TruthRevisionRecord, keyed_digest: str, to_rescore: int
) -> organiser_pb2.TruthRevision:
    """A revision of the truth as a message.

    Args:
        record: The revision.
        keyed_digest: Its digest, keyed.
        to_rescore: Submissions that are to be scored again under it.
    """
    return organiser_pb2.TruthRevision(
        revision=record.revision,
        digest=keyed_digest,
        create_time=write_time(record.create_time),
        frame_count=record.frame_count,
        complete=record.complete,
        comment=record.comment,
        submissions_to_rescore=to_rescore,
        object_count=record.object_count,
        sequence_count=record.sequence_count,
        label_count=record.label_count,
    )


def write_quota(quota: Quota) -> pb.Quota:
    """A limit on a team's submissions as a message."""
    return pb.Quota(
        name=quota.name,
        maximum=quota.maximum,
        left=quota.left,
        renew_time=write_time(quota.renew_time),
    )


def _geometry(arity: int | None) -> annotations_pb2.Geometry:
    return annotations_pb2.GEOMETRY_UNSPECIFIED if arity is None else GEOMETRY_OF_ARITY[arity]


def _read_policy(message: benchmark_pb2.Policy) -> dict[str, Any]:
    values: dict[str, Any] = {name: getattr(message, name) for name in _PLAIN}
    values["released_measures"] = list(message.released_measures)
    if message.submissions_in_all or message.unlimited_submissions:
        values["submissions_in_all"] = message.submissions_in_all
    values["private_share"] = message.private_share
    if not message.private_share:  # else they are those that were drawn
        values["private_sequences"] = list(message.private_sequences)
    if message.final_submissions:
        values["final_submissions"] = message.final_submissions
    for name in _OPTIONAL:
        if message.HasField(name):
            values[name] = getattr(message, name)
    for field, name in _DURATIONS.items():
        if message.HasField(field):
            values[name] = read_seconds(getattr(message, field))
    for name, names in _ENUMERATIONS.items():
        number = getattr(message, name)
        if number == 0:
            continue
        known = {value: key for key, value in names.items()}
        values[name] = known.get(number, str(number))
    return values

"""Benchmarks, their policies and truth revisions to messages and back."""

from __future__ import annotations

from typing import Any

from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.dictionaries import DEFINITION, POLICY, SPECIFICATION, TIME_FIELDS
from vidscore_protos.forms import fill_message, show_message
from vidscore_protos.v1 import benchmark_pb2, organiser_pb2
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.api.convert import (
    read_specification,
    read_time,
    write_specification,
    write_time,
)
from vidscore_server.domain.definition import Definition, check_definition, definition_to_dict
from vidscore_server.domain.names import benchmark_name
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.quotas import Quota
from vidscore_server.store.records import BenchmarkRecord, TruthRevisionRecord

PATH = "benchmark"

_SHOWN = {key: form for key, form in DEFINITION.items() if key not in TIME_FIELDS}


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
        **show_message(message, _SHOWN),
    }
    for field in TIME_FIELDS:
        if message.HasField(field):
            try:
                values[field] = read_time(getattr(message, field), f"{PATH}.{field}")
            except InputError as error:
                faults.extend(error.faults)
    return check_definition(specification, values, PATH, faults)


def write_benchmark(record: BenchmarkRecord, definition: Definition) -> benchmark_pb2.Benchmark:
    """All of a benchmark as a message, except its truth's digest."""
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
    """An organiser's definition of a benchmark as a message."""
    document = definition_to_dict(definition)
    if definition.live is not None:  # with its source, also if it is the default
        document["live"] = {"frames": definition.live.frames, **document["live"]}
    specification = {key: document[key] for key in SPECIFICATION if key in document}
    rest = {key: document[key] for key in DEFINITION if key in document}
    message = benchmark_pb2.Benchmark(
        specification=write_specification(specification), policy=write_policy(definition.policy)
    )
    fill_message(message, "definition", rest, DEFINITION)
    return message


def write_policy(policy: Policy) -> benchmark_pb2.Policy:
    """A policy as a message, with explicit defaults."""
    message = benchmark_pb2.Policy()
    values = {key: getattr(policy, key) for key in POLICY}
    given = {key: value for key, value in values.items() if value is not None}
    fill_message(message, "policy", given, POLICY)
    return message


def keep_budget(message: benchmark_pb2.Policy, present: Policy) -> None:
    """Keep the present number of submissions in a changed policy that does not set it.

    A limit that nobody asked for would exclude teams from a running benchmark.
    """
    if not message.submissions_in_all and not message.unlimited_submissions:
        message.submissions_in_all = present.submissions_in_all
        message.unlimited_submissions = present.submissions_in_all == 0


def keep_private(message: benchmark_pb2.Policy, present: Policy) -> None:
    """Keep the present private sequences in a changed policy that does not set them."""
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
        to_rescore: Number of submissions to score again under it.
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


def _read_policy(message: benchmark_pb2.Policy) -> dict[str, Any]:
    values = show_message(message, POLICY)
    private = values.get("private_sequences")
    if isinstance(private, float):
        # If there is a share, the names are those of the drawn sequences.
        del values["private_sequences"]
        values["private_share"] = private
    return values

"""The queue of the server: waiting, running and failed submissions of all benchmarks."""

from __future__ import annotations

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import server_service_pb2 as pb
from vidscore_server.api.requests import Time, cut_page, page_size_of, read_page_token
from vidscore_server.api.submissions import STATE_OF_NUMBER, STATES, write_submission
from vidscore_server.domain.states import UNFINISHED
from vidscore_server.domain.submissions import SubmissionView
from vidscore_server.store import Reader
from vidscore_server.store.records import SubmissionState


def queue_page(request: pb.GetQueueRequest, reader: Reader) -> pb.GetQueueResponse:
    """Answer a call of GetQueue.

    Args:
        request: The request.
        reader: A state of the store.

    Raises:
        InputError: If it names an unknown state.
    """
    states = read_states(request)
    size = page_size_of(request)
    after = read_page_token(request, Time, str, str)
    records = reader.queue(states, after, size + 1)
    shown, token = cut_page(
        records, size, lambda last: (last.state_time, last.benchmark, last.submission)
    )
    counts = reader.state_counts()
    return pb.GetQueueResponse(
        submissions=[write_submission(SubmissionView(record, (), None)) for record in shown],
        next_page_token=token,
        counts=[
            pb.StateCount(state=number, count=counts[state])
            for state, number in STATES.items()
            if state in counts
        ],
    )


def read_states(request: pb.GetQueueRequest) -> frozenset[SubmissionState]:
    """Read the requested states.

    Raises:
        InputError: If one is unknown.
    """
    faults = [
        Fault(f"the number {number}", "a state of submissions", field=f"states[{row}]")
        for row, number in enumerate(request.states)
        if number not in STATE_OF_NUMBER
    ]
    if faults:
        raise InputError(faults)
    wanted = frozenset(STATE_OF_NUMBER[number] for number in request.states)
    return wanted or UNFINISHED | {SubmissionState.FAILED}

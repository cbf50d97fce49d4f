"""A simulated detector at 30 Hz that sends its boxes to a hosted benchmark as they come.

VIDSCORE_TOKEN=... python clients/python/samples/live_stream.py localhost:50051 streets my-run

Stop the server and start it again: the stream continues. Stop this program and start it again
with the same name: it continues, too.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

from table import print_scores

from vidscore_client import Delivery, VidscoreError, connect

FRAME_S = 1 / 30
TELL_S = 1.0


def main(arguments: list[str]) -> int:
    """Detect, send, and show the scores."""
    if len(arguments) not in {3, 4} or not all(map(str.isdecimal, arguments[3:])):
        print("usage: live_stream.py ADDRESS BENCHMARK SUBMISSION [FRAMES]", file=sys.stderr)
        return 2
    address, benchmark, name = arguments[:3]
    frame_count = int(arguments[3]) if len(arguments) == 4 else 300
    tell = at_most_every(TELL_S, lambda count: print(f"{count} frames are durable", flush=True))
    with connect(address, token=os.environ.get("VIDSCORE_TOKEN")) as client:
        delivery = Delivery(on_acknowledged=tell)
        with client.submit(benchmark, name, replay=True, delivery=delivery) as stream:
            for number in range(frame_count):
                # Simulated detections: a car that moves to the right.
                box = [10 + number, 20, 50 + number, 100]
                stream.send("street", number, [box], ["Car"], [0.9])
                if number >= stream.next_offset:
                    time.sleep(FRAME_S)
            stream.seal(frame_count)
            print(f"the submission is {stream.wait().state}")
            print_scores([score.report for score in stream.scores()])
    return 0


def at_most_every(interval_s: float, tell: Callable[[int], None]) -> Callable[[int], None]:
    """A function that tells a count, at most once in an interval."""
    next_s = time.monotonic()

    def tell_in_time(count: int) -> None:
        nonlocal next_s
        if time.monotonic() >= next_s:
            next_s = time.monotonic() + interval_s
            tell(count)

    return tell_in_time


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except VidscoreError as error:
        sys.exit(str(error))

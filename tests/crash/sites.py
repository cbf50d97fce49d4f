"""A site whose servers die: its servers, its writers, and the invariants at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import grpc
from tests.crash.checking import SIZES, check_positions, check_reports
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.crash.writers import Position, Writer
from tests.server.domain.sky import truth
from tests.support.waiting import eventually

PACE_S = 0.01


@dataclass(frozen=True)
class Site:
    """Servers over one store, and their writers.

    Attributes:
        servers: The servers.
        writers: The writers, each with one of the servers.
    """

    servers: Sequence[KilledServer]
    writers: Sequence[Writer]

    @classmethod
    def made(
        cls, servers: Sequence[KilledServer], teams: Mapping[str, int], by_way_of: str = ""
    ) -> Site:
        """A site with a benchmark, whose writers have not begun.

        Args:
            servers: Running servers over one store.
            teams: Teams, with the number of streams in which each sends a submission.
            by_way_of: Address by which writers reach it; if empty, the servers', in turn.
        """
        with grpc.insecure_channel(servers[0].address) as channel:
            organiser = Organiser(channel, servers[0].secret)
            organiser.host(truth(max(SIZES)))
            tokens = {team: organiser.token(team) for team in teams}
        writers = [
            Writer(
                by_way_of or servers[row % len(servers)].address,
                *(team, tokens[team], streams, SIZES, PACE_S),
            )
            for row, (team, streams) in enumerate(teams.items())
        ]
        return cls(servers, writers)

    @contextmanager
    def written_to(self) -> Iterator[None]:
        """Let writers write during the block, and complete what they have begun."""
        for writer in self.writers:
            writer.start()
        yield
        for writer in self.writers:
            writer.finish()

    def known(self) -> list[Position]:
        """The known durable positions of open streams."""
        return [position for writer in self.writers for position in writer.positions()]

    def check_known(self) -> None:
        """Check that all acknowledged frames are at every server."""
        known = self.known()
        for server in self.servers:
            with grpc.insecure_channel(server.address) as channel:
                check_positions(Organiser(channel, server.secret), known)

    def check_going_on(self) -> None:
        """Check that all acknowledged frames are there, and wait until every writer continues."""
        known, sealed = self.known(), [len(writer.sent) for writer in self.writers]
        self.check_known()
        for writer, before in zip(self.writers, sealed, strict=True):
            eventually(lambda: _goes_on(writer, before, known))  # noqa: B023 - called at once

    def check_end(self) -> Counter[str]:
        """Check at every server that everything ended well; returns how much there was."""
        sent = [entry for writer in self.writers for entry in writer.sent]
        for server in self.servers:
            with grpc.insecure_channel(server.address) as channel:
                check_reports(Organiser(channel, server.secret), sent)
        frames = sum(entry.frame_count for entry in sent)
        competitions = sum(writer.competitions for writer in self.writers)
        return Counter(submissions=len(sent), frames=frames, competitions=competitions)


def _goes_on(writer: Writer, sealed: int, known: Sequence[Position]) -> bool:
    """Whether a writer has made progress, or has failed, which `finish` reports."""
    if writer.failure is not None or len(writer.sent) > sealed:
        return True
    before = {(entry.submission, entry.stream): entry.acknowledged for entry in known}
    return any(
        entry.acknowledged > before.get((entry.submission, entry.stream), 0)
        for entry in writer.positions()
    )

"""For any order of events, a board never mixes bases and equals one made from scratch.

Truth, submissions, other parameters, re-scorings, failures and publications happen in random order,
by the server's own commands; the model ranks naively, team by team.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from msgspec import structs

from vidscore_evaluators.testing.examples import example_count
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import BoardState, board_state, shown_basis
from vidscore_server.domain.board_rows import KeptBoards
from vidscore_server.domain.definition import Definition, definition_from_dict, definition_to_dict
from vidscore_server.domain.leaderboard import Board, ranked_entries
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.publishing import keep_result, move_board, publish_anew
from vidscore_server.domain.scores import PackedReport, Result
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import (
    BenchmarkRecord,
    Role,
    SubmissionRecord,
    SubmissionState,
    TruthRevisionRecord,
)
from vidscore_server.store.sqlite import open_sqlite_store

pytestmark = pytest.mark.slow

Answer = TypeVar("Answer")
Key = tuple[int, str]

TEAMS = ("red", "blue", "green")
TAUS = (8.0, 9.0, 10.0)
ORGANISER, VIEWER = Caller(role=Role.ORGANISER), Caller(role=Role.VIEWER)
START = datetime(2026, 5, 1, tzinfo=UTC)


def score_of(submission: str, key: Key) -> float | None:
    """F1 of a submission under a basis: one of few values, for ties, or undefined."""
    digest = hashlib.sha256(repr((submission, key)).encode()).digest()[0] % 6
    return None if digest == 0 else digest / 5


class Hosting(RuleBasedStateMachine):
    """One benchmark, with every event that can happen to it."""

    def __init__(self) -> None:
        super().__init__()
        self.ending = contextlib.ExitStack()
        folder = self.ending.enter_context(tempfile.TemporaryDirectory())
        self.store = self.ending.enter_context(
            contextlib.closing(open_sqlite_store(Path(folder, "store.db")))
        )
        self.time = START
        self.kept = (KeptBoards(), KeptBoards(most_one_by_one=0))
        self.teams: dict[str, str] = {}
        self.scored: dict[str, set[Key]] = {}
        self.failed: dict[str, str] = {}
        self.disqualified: set[str] = set()
        self.definition: Definition

    def teardown(self) -> None:
        self.ending.close()

    @initialize(
        rescore=st.sampled_from(["automatic", "review"]),
        visibility=st.sampled_from(["ladder", "final"]),
    )
    def create(self, rescore: str, visibility: str) -> None:
        self.definition = self.defined(TAUS[0], rescore, visibility)
        self.write(
            lambda transaction: transaction.insert_benchmark(
                BenchmarkRecord("b", self.json(), None, None, self.time, self.time)
            )
        )

    @rule(complete=st.booleans())
    def upload(self, complete: bool) -> None:
        def command(transaction: Transaction) -> None:
            record = self.record(transaction)
            number = record.truth_revision + 1
            revision = TruthRevisionRecord("b", number, "", self.time, 1, complete, "")
            transaction.insert_truth_revision(revision)
            transaction.update_benchmark(
                structs.replace(record, truth_revision=number, revision=record.revision + 1)
            )

        self.write(command)

    @rule(tau=st.sampled_from(TAUS))
    def change_parameters(self, tau: float) -> None:
        policy = self.definition.policy
        self.definition = self.defined(tau, policy.rescore, policy.visibility)
        self.write(
            lambda transaction: transaction.update_benchmark(
                structs.replace(self.record(transaction), definition=self.json())
            )
        )

    @rule(team=st.sampled_from(TEAMS))
    def submit(self, team: str) -> None:
        """A submission is scored under the newest truth."""
        name = f"s{len(self.teams)}"

        def command(transaction: Transaction) -> bool:
            revision = self.record(transaction).truth_revision
            if revision:
                transaction.insert_submission(self.submission(name, team))
                self.keep(transaction, name, revision)
                move_board(transaction, self.definition, "b", self.time)
            return bool(revision)

        self.time += timedelta(seconds=1)
        if self.write(command):
            self.teams[name] = team

    @rule(fails=st.booleans())
    def score_again(self, fails: bool) -> None:
        """The first waiting submission is scored again, or fails."""

        def command(transaction: Transaction) -> None:
            state = self.state(transaction)
            if state.wanted is None or not state.waiting:
                return
            if fails:
                basis = state.wanted.to_json()
                transaction.put_failed_rescoring("b", state.waiting[0], basis)
                self.failed[state.waiting[0]] = basis
            else:
                self.keep(transaction, state.waiting[0], state.wanted.truth_revision)

        self.write(command)

    @rule(chosen=st.integers(0, 20))
    def score_once_more(self, chosen: int) -> None:
        """An organiser may ask for any submission at any time."""

        def command(transaction: Transaction) -> None:
            name = list(self.teams)[chosen]
            self.keep(transaction, name, self.record(transaction).truth_revision)

        if chosen < len(self.teams):
            self.write(command)

    @rule(chosen=st.integers(0, 20), reason=st.sampled_from(["", "It had help."]))
    def disqualify(self, chosen: int, reason: str) -> None:
        """Or reinstate it: the releases of its team are computed again."""

        def command(transaction: Transaction) -> None:
            record = transaction.submission("b", list(self.teams)[chosen])
            assert record is not None
            changed = structs.replace(record, disqualification=reason, revision=record.revision + 1)
            transaction.update_submission(changed)
            publish_anew(transaction, self.definition, self.record(transaction), self.time)

        if chosen < len(self.teams):
            self.write(command)
            self.disqualified.discard(list(self.teams)[chosen])
            self.disqualified |= {list(self.teams)[chosen]} if reason else set()

    @rule(visibility=st.sampled_from(["ladder", "final", "live"]))
    def change_policy(self, visibility: str) -> None:
        """The policy changes, and scores are released again."""
        policy = self.definition.policy
        tau = self.definition.specification.evaluators[0].parameters["tau"]
        self.definition = self.defined(tau, policy.rescore, visibility)

        def command(transaction: Transaction) -> None:
            record = self.record(transaction)
            changed = structs.replace(record, definition=self.json(), revision=record.revision + 1)
            transaction.update_benchmark(changed)
            publish_anew(transaction, self.definition, changed, self.time)

        self.write(command)

    @rule(publishing=st.booleans())
    def settle(self, publishing: bool) -> None:
        self.write(
            lambda transaction: move_board(
                transaction, self.definition, "b", self.time, publishing=publishing
            )
        )

    @invariant()
    def the_board_is_what_it_would_be_from_scratch(self) -> None:
        with self.store.read() as reader:
            shown = shown_basis(self.record(reader))
            board = Board("b", self.definition.evaluators[0])
            rows = ranked_entries(reader, self.definition, board, ORGANISER, self.time)
            seen = ranked_entries(reader, self.definition, board, VIEWER, self.time)
            for caller, found in ((ORGANISER, rows), (VIEWER, seen)):
                record = self.record(reader)
                for boards in self.kept:
                    kept = boards.entries(reader, self.definition, record, board, caller, self.time)
                    assert kept == found, "a board that is kept is the one that there is"
        if shown is None:
            assert rows == seen == []
            return
        key = (shown.truth_revision, shown.configurations["spotgeo"])
        ranked = [(row.rank, row.entry.team, row.entry.values[0]) for row in rows if row.rank]
        assert sorted(ranked) == sorted(self.from_scratch(key))
        for row in (*rows, *seen):
            name = row.entry.submission
            on_board = key in self.scored[name] and name not in self.disqualified
            assert bool(row.rank) == on_board, "what is not under the board's basis has no rank"
            if row.rank:
                assert row.entry.truth_revision == shown.truth_revision
        assert [bool(row.rank) for row in rows] == sorted(
            (bool(row.rank) for row in rows), reverse=True
        )
        under = {value for _, _, value in self.all_under(key)}
        assert {row.entry.values[0] for row in seen if row.rank} <= under

    @invariant()
    def what_waits_is_what_lacks_a_score_and_can_have_one(self) -> None:
        with self.store.read() as reader:
            state = self.state(reader)
        if state.wanted is None:
            assert state.waiting == ()
            return
        key, text = state.wanted.key("spotgeo"), state.wanted.to_json()
        assert list(state.waiting) == [
            name
            for name in self.teams
            if key not in self.scored[name] and self.failed.get(name) != text
        ]

    @invariant()
    def nobody_but_organisers_sees_a_score_before_its_board(self) -> None:
        with self.store.read() as reader:
            shown = shown_basis(self.record(reader))
            state = self.state(reader)
            published = reader.published_scores("b", "spotgeo")
        if state.wanted is None or shown == state.wanted:
            return
        on_board = {} if shown is None else shown.configurations
        for score in published:
            under_shown = shown is not None and (
                score.truth_revision, score.configuration,
            ) == (shown.truth_revision, on_board["spotgeo"])  # fmt: skip
            newer = score.truth_revision > (shown.truth_revision if shown else 0)
            assert under_shown or not newer

    def from_scratch(self, key: Key) -> list[tuple[int, str, float | None]]:
        """Rank, team and best score; a rank is one more than the number of better teams."""
        best: dict[str, float] = {}
        for _, team, value in self.all_under(key):
            best[team] = max(best.get(team, -1.0), -1.0 if value is None else value)
        return [
            (1 + sum(other > value for other in best.values()), team, None if value < 0 else value)
            for team, value in best.items()
        ]

    def all_under(self, key: Key) -> list[tuple[str, str, float | None]]:
        return [
            (name, team, score_of(name, key))
            for name, team in self.teams.items()
            if key in self.scored[name] and name not in self.disqualified
        ]

    def keep(self, transaction: Transaction, name: str, revision: int) -> None:
        evaluator = self.definition.evaluators[0]
        key = (revision, self.definition.configurations["spotgeo"])
        submission = transaction.submission("b", name)
        assert submission is not None
        values = {"f1": score_of(name, key), "mse": 1.0}
        parts = {Portion.WHOLE: PackedReport(b"", values)}
        result = Result(evaluator, *key, partial=False, parts=parts)
        keep_result(transaction, self.definition, submission, result, self.time)
        self.scored.setdefault(name, set()).add(key)

    def submission(self, name: str, team: str) -> SubmissionRecord:
        state, now = SubmissionState.SCORED, self.time
        return SubmissionRecord(
            "b", name, team, "", state, "", "", now, now, now, now, frame_count=1
        )

    def defined(self, tau: float, rescore: str, visibility: str) -> Definition:
        return definition_from_dict(
            {
                "truth_geometry": "point",
                "detection_geometry": "point",
                "evaluators": [{"name": "spotgeo", "parameters": {"tau": tau}}],
                "policy": {"rescore": rescore, "visibility": visibility, "ladder_step": 0.2},
            }
        )

    def json(self) -> str:
        return orjson.dumps(definition_to_dict(self.definition)).decode()

    def record(self, reader: Reader) -> BenchmarkRecord:
        found = reader.benchmark("b")
        assert found is not None
        return found

    def state(self, reader: Reader) -> BoardState:
        return board_state(reader, self.definition, self.record(reader))

    def write(self, command: Callable[[Transaction], Answer]) -> Answer:
        return self.store.submit(command).result(60)


def test_no_board_ever_mixes_bases_and_each_equals_one_made_from_scratch() -> None:
    checks: Any = settings(
        max_examples=example_count(12),
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Hosting, settings=checks)

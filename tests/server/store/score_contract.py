"""What every store keeps of scores and of their releases."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.server.store import records as r
from tests.server.store.commands import populate, put

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.errors import NotFoundError
from vidscore_server.store.records import ScoredTotals, SubmissionState


def with_frames(transaction: Transaction) -> None:
    """Add a frame to the submission: one without frames is on no board."""
    transaction.update_submission(r.submission(frame_count=1))


class ScoreContract:
    """Part of the contract: scores, releases and what boards are made from."""

    def test_scores_are_numbered_and_listed_newest_first(self, store: SqlStore) -> None:
        put(store, populate, lambda t: t.update_submission(r.submission(frame_count=1)))
        numbers = [
            store.submit(lambda t, e=e: t.insert_score(r.score(evaluator=e))).result(60).number  # type: ignore[misc]
            for e in ("f1", "map", "f1")
        ]
        assert numbers == [1, 2, 3]
        with store.read() as reader:
            assert [s.number for s in reader.scores("b", "s", None, 2)] == [3, 2]
            assert [s.number for s in reader.scores("b", "s", 2, 9)] == [1]
            assert reader.scores("b", "s", 2, 9) == [structs.replace(r.score(), number=1)]

    def test_shown_outcomes_are_recorded_permanently_and_counted_per_team(
        self, store: SqlStore
    ) -> None:
        put(store, populate, with_frames, lambda t: t.insert_score(r.score()))
        put(store, lambda t: t.insert_score(r.score()))
        with store.read() as reader:
            assert reader.shown_outcomes_count("b", "red") == 0
        for _ in range(2):
            put(store, lambda t: t.note_shown_outcomes(structs.replace(r.score(), number=2)))
        put(store, lambda t: t.publish_score(structs.replace(r.score(), number=2)))
        with store.read() as reader:
            assert [s.outcomes_shown for s in reader.scores("b", "s", None, 9)] == [True, False]
            assert reader.shown_outcomes_count("b", "red") == 1
            assert reader.shown_outcomes_count("b", "blue") == 0
            assert reader.shown_outcomes_count("other", "red") == 0

    def test_a_score_keeps_its_parts_and_the_step_of_its_release(self, store: SqlStore) -> None:
        parts = structs.replace(
            r.score(),
            public_values='{"f1":1}',
            public_report=b"public",
            private_values='{"f1":0}',
            private_report=b"private",
            estimate='{"f1":0.5}',
        )
        put(store, populate, with_frames, lambda t: t.insert_score(parts))
        released = structs.replace(parts, number=1, released="{}", released_step=0.1)
        put(store, lambda t: t.publish_score(released))
        with store.read() as reader:
            assert reader.scores("b", "s", None, 9) == [structs.replace(released, published=True)]

    def test_chosen_submissions_are_found_by_their_team(self, store: SqlStore) -> None:
        put(store, populate, with_frames)
        with store.read() as reader:
            assert reader.chosen_submissions("b", "red") == []
            record = reader.submission("b", "s")
        assert record is not None
        put(store, lambda t: t.update_submission(structs.replace(record, chosen=True)))
        with store.read() as reader:
            assert [entry.submission for entry in reader.chosen_submissions("b", "red")] == ["s"]
            assert reader.chosen_submissions("b", "blue") == []

    def test_scores_are_found_by_their_basis(self, store: SqlStore) -> None:
        """The newest of the same basis counts; revision and configuration are parts of it."""
        other = [
            structs.replace(r.score(), truth_revision=2),
            structs.replace(r.score(), configuration="f1 2 abc"),
        ]
        put(
            store,
            populate,
            with_frames,
            lambda t: [t.insert_score(one) for one in (r.score(), r.score(), *other)],
            lambda t: t.insert_score(r.score(evaluator="map")),
        )
        with store.read() as reader:
            found = reader.scores_under("b", "f1", 1, "f1 1 abc")
            assert [score.number for score in found] == [2]
            found = reader.scores_under("b", "f1", 2, "f1 1 abc")
            assert [score.number for score in found] == [3]
            assert reader.scores_under("b", "f1", 2, "f1 2 abc") == []
            assert reader.newest_scored_truth("b") == 2
            assert reader.newest_scored_truth("none") == 0

    def test_scores_can_be_found_without_their_reports(self, store: SqlStore) -> None:
        put(store, populate, with_frames, lambda t: t.insert_score(r.score()))
        bare = structs.replace(r.score(), number=1, report=b"")
        with store.read() as reader:
            assert reader.scores_under("b", "f1", 1, "f1 1 abc", reports=False) == [bare]
            assert reader.published_elsewhere("b", "f1", 2, "f1 1 abc") == [bare]
            assert reader.published_elsewhere("b", "f1", 1, "f1 1 abc") == []
            assert reader.score("b", "s", 1) == structs.replace(r.score(), number=1)
            assert reader.score("b", "s", 2) is None

    def test_counted_submissions_are_counted_per_team_and_in_all(self, store: SqlStore) -> None:
        """Drafts and failed ones are left out."""
        others = (
            r.submission("s2", frame_count=1),
            r.submission("s3", "blue", state=SubmissionState.SCORED, frame_count=1),
            r.submission("s4", state=SubmissionState.FAILED, frame_count=1),
            r.submission("s5"),
        )
        put(store, populate, with_frames)
        for one in others:
            put(store, lambda t, one=one: t.insert_submission(one))  # type: ignore[misc]
        with store.read() as reader:
            assert reader.scored_counts("b", {"red", "none"}) == {"red": 2}
            assert reader.scored_totals("b") == ScoredTotals(2, 3, 2)
            assert reader.scored_totals("none") == ScoredTotals(0, 0, 0)
            assert reader.scored_names("b") == ("s3",)
            assert list(reader.scored_submissions("b")) == ["s3"]

    def test_versions_name_the_newest_score_of_each_submission_under_a_basis(
        self, store: SqlStore
    ) -> None:
        scored = SubmissionState.SCORED
        first = r.submission(state=scored, frame_count=1)
        others = (
            r.submission("s2", state=scored, frame_count=1),
            r.submission("none", state=scored),
            r.submission("failed", state=SubmissionState.FAILED, frame_count=1),
        )
        put(store, populate, lambda t: t.update_submission(structs.replace(first, revision=7)))
        for one in others:
            put(store, lambda t, one=one: t.insert_submission(one))  # type: ignore[misc]
        newer = structs.replace(r.score(), truth_revision=2)
        for score in (r.score(), r.score(), newer, r.score(evaluator="map"), r.score("failed")):
            put(store, lambda t, score=score: t.insert_score(score))  # type: ignore[misc]
        with store.read() as reader:
            found = reader.ranked_versions("b", "f1", 1, "f1 1 abc")
            assert found == {"s": (7, 2), "s2": (1, None)}
            assert reader.ranked_versions("b", "f1", 2, "f1 1 abc")["s"] == (7, 3)
            assert reader.ranked_versions("none", "f1", 1, "f1 1 abc") == {}

    def test_the_stamp_of_a_board_differs_after_each_change(self, store: SqlStore) -> None:
        put(store, populate)
        stamps = []
        for change in (
            with_frames,
            lambda t: t.insert_score(r.score()),
            lambda t: t.update_submission(structs.replace(r.submission(frame_count=1), revision=9)),
        ):
            put(store, change)
            with store.read() as reader:
                stamps.append(reader.board_stamp("b"))
                assert reader.board_stamp("b") == stamps[-1]
        assert len(set(stamps)) == 3

    def test_a_score_is_published_with_its_releases(self, store: SqlStore) -> None:
        kept = structs.replace(r.score(), published=False)
        put(store, populate, with_frames)
        put(store, lambda t: [t.insert_score(kept), t.insert_score(kept)])
        with store.read() as reader:
            assert reader.published_scores("b", "f1") == []
            assert reader.scores("b", "s", None, 9, published_only=True) == []
            assert len(reader.scores("b", "s", None, 9)) == 2
        put(store, lambda t: t.publish_score(structs.replace(kept, number=1, released="{}")))
        published = structs.replace(kept, number=1, released="{}", published=True)
        with store.read() as reader:
            assert reader.published_scores("b", "f1") == [published]
            assert reader.scores("b", "s", None, 9, published_only=True) == [published]
        missing = store.submit(lambda t: t.publish_score(structs.replace(kept, number=7)))
        with pytest.raises(NotFoundError):
            missing.result(60)

    def test_a_failed_rescoring_is_recorded_once(self, store: SqlStore) -> None:
        scored = r.submission(state=SubmissionState.SCORED, frame_count=1)
        put(
            store,
            populate,
            lambda t: t.update_submission(scored),
            lambda t: t.put_failed_rescoring("b", "s", "one"),
            lambda t: t.put_failed_rescoring("b", "s", "two"),
        )
        bases = {"f1": (1, "f1 1 abc")}
        with store.read() as reader:
            assert reader.waiting_names("b", bases, "one") == ("s",)
            assert reader.waiting_names("b", bases, "two") == ()

    def test_submissions_wait_for_every_missing_score_in_order_of_sealing(
        self, store: SqlStore
    ) -> None:
        scored = SubmissionState.SCORED
        others = (
            r.submission("s2", state=scored, sealed=r.later(2), frame_count=1),
            r.submission("s3", state=scored, sealed=r.later(1), frame_count=1),
            r.submission("s4", state=scored, created=r.later(3), frame_count=1),
            r.submission("s5", state=scored, sealed=r.later(1), frame_count=1),
            r.submission("none", state=scored),
            r.submission("failed", state=SubmissionState.FAILED, frame_count=1),
        )
        put(store, populate)
        for one in others:
            put(store, lambda t, one=one: t.insert_submission(one))  # type: ignore[misc]
        for name, evaluator in (("s2", "f1"), ("s2", "map"), ("s3", "f1"), ("s4", "map")):
            score = r.score(name, evaluator)
            put(store, lambda t, score=score: t.insert_score(score))  # type: ignore[misc]
        f1, both = {"f1": (1, "f1 1 abc")}, {"f1": (1, "f1 1 abc"), "map": (1, "f1 1 abc")}
        with store.read() as reader:
            assert reader.scored_names("b") == ("s3", "s5", "s2", "s4")
            assert reader.waiting_names("b", f1, "") == ("s5", "s4")
            assert reader.waiting_names("b", both, "") == ("s3", "s5", "s4")
            for other in ((2, "f1 1 abc"), (1, "f1 2 abc")):
                assert reader.waiting_names("b", {"f1": other}, "") == reader.scored_names("b")
            assert reader.waiting_names("b", {}, "") == ()
            assert reader.waiting_names("none", f1, "") == ()

    def test_releases_of_an_evaluator_are_removed_for_all_teams(self, store: SqlStore) -> None:
        other = structs.replace(r.release(), evaluator="map")
        put(
            store,
            populate,
            lambda t: t.put_release(r.release()),
            lambda t: t.put_release(r.release("blue")),
            lambda t: t.put_release(other),
            lambda t: t.delete_releases("b", "f1"),
        )
        with store.read() as reader:
            assert reader.releases("b", "f1") == []
            assert reader.releases("b", "map") == [other]

    def test_the_revisions_of_all_benchmarks_are_read_at_once(self, store: SqlStore) -> None:
        put(
            store,
            lambda t: t.insert_benchmark(r.benchmark("one")),
            lambda t: t.insert_benchmark(
                structs.replace(r.benchmark("two"), revision=5, board="{}")
            ),
        )
        with store.read() as reader:
            assert reader.benchmark_revisions() == {"one": (r.NOON, 1), "two": (r.NOON, 5)}
            assert [entry.board for entry in reader.benchmarks("", 9)] == ["", "{}"]

    def test_a_release_replaces_the_one_before(self, store: SqlStore) -> None:
        put(
            store,
            populate,
            lambda t: t.put_release(r.release(values="1")),
            lambda t: t.put_release(r.release(values="2")),
            lambda t: t.put_release(r.release("blue")),
        )
        with store.read() as reader:
            assert [x.values for x in reader.releases("b", "f1")] == ["{}", "2"]

    def test_scores_on_draws_replace_those_before(self, store: SqlStore) -> None:
        put(
            store,
            populate,
            lambda t: t.put_score_draws(r.score_draws()),
            lambda t: t.put_score_draws(r.score_draws("map")),
            lambda t: t.put_score_draws(r.score_draws(payload=b"newer")),
        )
        with store.read() as reader:
            assert reader.score_draws("b", "s", "f1") == r.score_draws(payload=b"newer")
            assert reader.score_draws("b", "s", "map") == r.score_draws("map")
            assert reader.score_draws("b", "s", "hota") is None
            assert reader.score_draws("b", "other", "f1") is None

    def test_the_newest_tiers_up_to_a_revision_are_read(self, store: SqlStore) -> None:
        put(
            store,
            populate,
            lambda t: t.put_tiers(r.tiers(1)),
            lambda t: t.put_tiers(r.tiers(3, document="old")),
            lambda t: t.put_tiers(r.tiers(3, document="new")),
            lambda t: t.put_tiers(r.tiers(2, exact=True)),
        )
        with store.read() as reader:
            assert reader.tiers("b", "f1", 2, exact=False) == r.tiers(1)
            assert reader.tiers("b", "f1", 9, exact=False) == r.tiers(3, document="new")
            assert reader.tiers("b", "f1", 9, exact=True) == r.tiers(2, exact=True)
            assert reader.tiers("b", "f1", 1, exact=True) is None
            assert reader.tiers("b", "map", 9, exact=False) is None

"""How the tiers of a board are computed and stored, without a server."""

from __future__ import annotations

import hashlib
import zlib
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from vidscore_server.domain.access import ANONYMOUS, Caller
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.leaderboard import APART, Board, Entry, RankedEntry
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.tier_updates import _kept_draws, compare
from vidscore_server.domain.tiers import (
    DRAWS,
    MOST_SYSTEMS,
    SEED,
    BoardTiers,
    Draws,
    TierPlan,
    read_tiers,
    tier_plan,
    visible_rows,
)
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import Role, ScoreDrawsRecord

KEY = (3, "f1 1.0.0 abc")
ORGANISER = Caller(role=Role.ORGANISER)
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def hosted(**policy: Any) -> Definition:
    return definition_from_dict({"evaluators": [{"name": "f1"}], "policy": policy})


def entry(name: str, rank: int, value: float | None = 0.5) -> RankedEntry:
    return RankedEntry(rank, Entry(name, name, "", NOON, (value,)))


def plan_of(*entries: RankedEntry, exact: bool = True) -> TierPlan:
    definition = hosted()
    board = Board("b", definition.evaluators[0])
    return tier_plan(definition, board, KEY, entries, Portion.WHOLE, exact=exact)


def draws(value: float | None, *rest: float) -> Draws:
    """The same value in every draw, or several in turn."""
    values = [value, *rest]
    column = [values[row % len(values)] for row in range(DRAWS)]
    return Draws(30, DRAWS, {"f1": column}, apart=0.98)


def test_systems_listed_separately_or_without_a_score_are_not_compared() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2, None), entry("c", APART))
    assert plan.places == (("a", 1),)
    assert plan.left_out == 0


def test_the_best_hundred_are_compared_and_the_others_counted() -> None:
    plan = plan_of(*(entry(f"s{row:03}", row + 1) for row in range(MOST_SYSTEMS + 7)))
    assert len(plan.places) == MOST_SYSTEMS
    assert plan.places[-1] == ("s099", MOST_SYSTEMS)
    assert plan.left_out == 7


def test_another_rank_system_or_rule_gives_another_plan() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2))
    others = [
        plan_of(entry("a", 1), entry("b", 1)),
        plan_of(entry("a", 1), entry("c", 2)),
        replace(plan, key=(4, KEY[1])),
        replace(plan, portion=Portion.PRIVATE),
        replace(plan, ranking={"precision": plan.ranking["f1"]}),
    ]
    assert plan.digest not in {other.digest for other in others}
    assert plan.digest == plan_of(entry("a", 1), entry("b", 2)).digest


def test_draws_of_the_whole_are_those_of_the_score_and_parts_have_their_own() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2))
    of_parts = [replace(plan, portion=portion).draws_key for portion in Portion]
    assert of_parts == [KEY, (3, "f1 1.0.0 abc public"), (3, "f1 1.0.0 abc private")]


def test_values_within_a_step_are_not_part_of_a_plan() -> None:
    """If what a board shows stays while a score changes, nothing is recomputed."""
    assert plan_of(entry("a", 1, 0.5), entry("b", 2, 0.4)).digest == (
        plan_of(entry("a", 1, 0.6), entry("b", 2, 0.3)).digest
    )


def test_the_direction_of_the_measure_decides_which_is_better() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2))
    found = compare(plan, {"a": draws(0.9), "b": draws(0.1)})
    assert {name: tier for name, (tier, _) in found.rows.items()} == {"a": 1, "b": 2}
    assert found.rows["a"][1] == pytest.approx((DRAWS + 1) / (DRAWS + 2), abs=1e-15)
    assert found.rows["b"][1] == pytest.approx(1 / (DRAWS + 2), abs=1e-15)
    assert (found.sequences, found.left_out, found.digest) == (30, 0, plan.digest)


def test_systems_without_defined_draws_are_left_out() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2), entry("c", 3))
    found = compare(plan, {"a": draws(0.9), "b": draws(None)})
    assert set(found.rows) == {"a"}
    assert found.left_out == 2
    assert compare(plan, {"b": draws(None)}) == BoardTiers(plan.digest, 0, {}, 3)


def test_systems_share_a_tier_if_a_domain_has_too_few_sequences() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2))
    few = {"a": replace(draws(0.9), apart=1.0), "b": replace(draws(0.1), apart=1.0)}
    found = compare(plan, few)
    assert {name: tier for name, (tier, _) in found.rows.items()} == {"a": 1, "b": 1}
    assert not found.enough


@pytest.mark.parametrize("enough", [True, False])
def test_tiers_are_read_as_stored(enough: bool) -> None:
    tiers = BoardTiers("digest", 30, {"a": (1, 0.75), "b": (2, 0.25)}, 4, enough)
    record = tiers.record("b", plan_of(entry("a", 1), exact=False))
    assert read_tiers(record.document) == tiers
    assert (record.truth_revision, record.exact) == (3, False)


@pytest.mark.parametrize("enough", [True, False])
def test_stored_tiers_have_no_further_field_than_those_of_0_2_0_which_refuses_one(
    enough: bool,
) -> None:
    stored = BoardTiers("digest", 30, {"a": (1, 0.75)}, 4, enough)
    document = orjson.loads(stored.record("b", plan_of(entry("a", 1))).document)
    assert set(document) == {"digest", "sequences", "rows", "left_out"}
    assert document["rows"] == {"a": [1, 0.75]}


def test_draws_and_tiers_of_0_2_0_which_had_no_rule_for_domains_are_computed_again() -> None:
    plan = plan_of(entry("a", 1), entry("b", 2))
    content = [*KEY, list(plan.ranking), plan.places, plan.left_out, DRAWS, SEED]
    assert plan.digest != hashlib.sha256(orjson.dumps(content)).hexdigest()

    document = {"sequences": 30, "resamples": DRAWS, "values": {"f1": [0.5] * DRAWS}}
    record = ScoreDrawsRecord("b", "a", "f1", *KEY, zlib.compress(orjson.dumps(document)))
    reader: Any = SimpleNamespace(score_draws=lambda *_: record)
    assert _kept_draws(reader, SubmissionName("b", "a"), plan) is None
    record = replace(record, payload=draws(0.5).to_bytes())
    assert _kept_draws(reader, SubmissionName("b", "a"), plan) == draws(0.5)


@pytest.mark.parametrize(
    "changed", [{"sequences": "30"}, {"left_out": None}, {"rows": {"a": [1]}}, {"digest": ...}]
)
def test_invalid_tiers_are_refused(changed: dict[str, Any]) -> None:
    document = {"digest": "d", "sequences": 30, "rows": {"a": [1, 0.5]}, "left_out": 0} | changed
    document = {name: value for name, value in document.items() if value is not ...}
    with pytest.raises((TypeError, ValueError)):
        read_tiers(orjson.dumps(document).decode())


@pytest.mark.parametrize(
    ("caller", "sequences", "policy", "shown"),
    [
        (ORGANISER, 2, {"visibility": "final"}, 0.74),
        (ORGANISER, 2, {"visibility": "final", "selection": "latest"}, 0.74),
        (ANONYMOUS, 19, {"visibility": "live"}, None),
        (ANONYMOUS, 20, {"visibility": "live"}, 0.74),
        (ANONYMOUS, 20, {"visibility": "live", "selection": "latest"}, 0.74),
        (ANONYMOUS, 19, {"visibility": "final"}, None),
        (ANONYMOUS, 20, {"visibility": "final"}, 0.7),
        (ANONYMOUS, 20, {"visibility": "final", "selection": "latest"}, None),
        (ANONYMOUS, 20, {"visibility": "ladder"}, 0.7),
    ],
)
def test_a_probability_is_shown_with_the_precision_that_the_caller_may_know(
    caller: Caller, sequences: int, policy: dict[str, Any], shown: float | None
) -> None:
    found = visible_rows(hosted(**policy), BoardTiers("", sequences, {"a": (3, 0.74)}, 0), caller)
    assert found == {"a": (3, shown if shown is None else pytest.approx(shown, abs=1e-12))}


def test_draws_are_read_as_stored() -> None:
    kept = draws(0.25, 0.5)
    assert Draws.from_bytes(kept.to_bytes()) == kept


@pytest.mark.parametrize(
    "changed",
    [
        {"sequences": 0},
        {"resamples": 0},
        {"resamples": "3"},
        {"apart": 1.5},
        {"values": {"f1": [0.5]}},
        {"values": {"f1": ["x"]}},
    ],
)
def test_invalid_draws_are_refused(changed: dict[str, Any]) -> None:
    document = {"sequences": 2, "resamples": 3, "values": {"f1": [0.5] * DRAWS}}
    Draws.from_bytes(zlib.compress(orjson.dumps({**document, "sequences": 1, "resamples": 1})))
    with pytest.raises((TypeError, ValueError)):
        Draws.from_bytes(zlib.compress(orjson.dumps({**document, **changed})))


@pytest.mark.slow
def test_draws_are_unpacked_only_to_their_maximum_size() -> None:
    with pytest.raises(StoreDamagedError):
        Draws.from_bytes(zlib.compress(bytes(100 << 20)))

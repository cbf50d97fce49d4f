"""No team keeps others out, and none has more than its share while others ask for theirs."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.errors import LimitError
from vidscore_server.domain.sessions import Place, Places, Use
from vidscore_server.errors import NoPlaceError

TEAMS = ("red", "blue", "green")


class Asking:
    """Asks for places, and keeps its own record of who has which."""

    def __init__(self, maximum: int, *, shared: bool = True) -> None:
        self.places = Places(maximum, shared=shared)
        self.held: list[Place] = []
        self.ended: list[Place] = []
        self.refusals: dict[Use, set[type[LimitError]]] = {use: set() for use in Use}

    def ask(self, team: str, use: Use = Use.HOSTED) -> bool:
        """Whether a team gets a place; `organiser` says whether an organiser asks."""

        def end(error: NoPlaceError) -> None:
            assert error.retry_delay_s > 0
            self.held.remove(place)
            self.ended.append(place)

        place = Place(team, use, is_organiser=team == "organiser", end=end)
        try:
            self.places.take(place)
        except LimitError as error:
            self.refusals[use].add(type(error))
            return False
        self.held.append(place)
        return True

    def give_back(self, index: int) -> None:
        if self.held:
            self.places.give_back(self.held.pop(index % len(self.held)))

    def counts(self, use: Use | None = None) -> Counter[str]:
        return Counter(place.team for place in self.held if use in {None, place.use})


def test_a_single_team_gets_all_places_except_those_of_organisers() -> None:
    asking = Asking(100)
    assert [asking.ask("red") for _ in range(100)] == [True] * 90 + [False] * 10
    assert [asking.ask("organiser") for _ in range(10)] == [True] * 10


def test_a_later_team_gets_as_many_places_as_the_one_that_had_all() -> None:
    asking = Asking(100)
    for _ in range(100):
        asking.ask("red")
    for _ in range(100):
        asking.ask("blue")
    assert asking.counts() == {"red": 45, "blue": 45}
    assert {place.team for place in asking.ended} == {"red"}


def test_the_newest_streams_of_a_team_are_ended_first() -> None:
    asking = Asking(10)
    for _ in range(9):
        asking.ask("red")
    first = list(asking.held)
    asking.ask("blue")
    assert asking.ended == first[-1:]


def test_an_ended_stream_does_not_return_to_the_place_that_it_gave_up() -> None:
    asking = Asking(10)
    for _ in range(9):
        asking.ask("red")
    for _ in range(9):
        asking.ask("blue")
    assert not asking.ask("red")
    assert not asking.ask("blue")
    assert asking.counts() == {"red": 5, "blue": 4}


def test_scoring_leaves_half_of_the_places_to_hosted_streams_and_half_of_the_rest_to_others() -> (
    None
):
    asking = Asking(100)
    assert sum(asking.ask("nobody", Use.SCORING) for _ in range(100)) == 25
    assert sum(asking.ask("red", Use.SCORING) for _ in range(100)) == 13
    assert sum(asking.ask("red") for _ in range(100)) == 90 - 25 - 13
    assert not [place for place in asking.ended if place.use is Use.SCORING]


def test_only_a_stream_that_can_resume_is_told_to_ask_again() -> None:
    asking = Asking(1)
    for use in (Use.HOSTED, *Use):
        asking.ask("red", use)
    assert asking.refusals == {Use.HOSTED: {NoPlaceError}, Use.SCORING: {LimitError}}


def test_without_teams_every_place_is_free() -> None:
    asking = Asking(7, shared=False)
    assert [asking.ask("nobody", Use.SCORING) for _ in range(8)] == [True] * 7 + [False]


@pytest.mark.parametrize("maximum", [1, 2, 3])
def test_with_few_places_every_kind_of_stream_still_gets_one(maximum: int) -> None:
    for use in Use:
        assert Asking(maximum).ask("red", use)
        assert Asking(maximum).ask("organiser", use)


askings = st.tuples(st.sampled_from((*TEAMS, "organiser")), st.sampled_from(Use))
steps = st.lists(askings | st.integers(0, 1000), max_size=120)


@given(maximum=st.integers(2, 24), steps=steps)
def test_shares_stay_fair_for_any_order_of_requests(
    maximum: int, steps: list[tuple[str, Use] | int]
) -> None:
    asking = Asking(maximum)
    for step in steps:
        if isinstance(step, int):
            asking.give_back(step)
            continue
        before = asking.counts(Use.HOSTED)
        team, use = step
        got = asking.ask(team, use)
        _check_what_is_kept(asking, maximum)
        if use is Use.HOSTED and not got:
            _check_refusal(team, before)


@given(maximum=st.integers(4, 24), steps=steps, team=st.sampled_from(TEAMS))
def test_a_team_that_keeps_asking_ends_with_an_even_share_whatever_others_hold(
    maximum: int, steps: list[tuple[str, Use] | int], team: str
) -> None:
    asking = Asking(maximum)
    for step in steps:
        if isinstance(step, int):
            asking.give_back(step)
        else:
            asking.ask(*step)
    while asking.ask(team):
        pass
    hosted = asking.counts(Use.HOSTED)
    others = [hosted[name] for name in TEAMS if name != team]
    assert hosted[team] >= max(others) - 1


def _check_what_is_kept(asking: Asking, maximum: int) -> None:
    """No more places than exist; a tenth is for organisers, and scoring has at most half."""
    assert asking.places.held_count == len(asking.held) <= maximum
    of_teams = [place for place in asking.held if place.team != "organiser"]
    assert len(of_teams) <= maximum - max(1, maximum // 10)
    scoring = [place for place in of_teams if place.use is Use.SCORING]
    assert len(scoring) <= max(1, maximum // 2)
    assert all(place.use is Use.HOSTED for place in asking.ended)
    assert all(place.team != "organiser" for place in asking.ended)


def _check_refusal(team: str, hosted: Counter[str]) -> None:
    """A team is refused only if no other team has so many places that it could give one up."""
    others = [count for name, count in hosted.items() if name not in {team, "organiser"}]
    assert max(others, default=0) <= hosted[team] + 1

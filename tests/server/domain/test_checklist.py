"""The checklist of a benchmark: every question is answered, and participants learn no truth."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, dots
from tests.server.scene import points

from vidscore_protos.v1 import benchmark_pb2
from vidscore_protos.v1 import benchmark_service_pb2 as pb
from vidscore_server.domain.checklist import Item, TruthState, checklist
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.policy import TruthSize, Visibility

WHOLE = TruthState(revision=3, complete=True, frames=7654)
SIZE = TruthSize(objects=4321, sequences=17)


def definition(**keys: Any) -> Definition:
    """A benchmark with a complete truth."""
    document = {"title": "Sky", "evaluators": [{"name": "spotgeo"}], **keys}
    return replace(definition_from_dict(document), truth_size=SIZE)


def asked(items: list[Item], beginning: str) -> Item:
    """The item of a question."""
    [found] = [item for item in items if item.question.startswith(beginning)]
    return found


def test_an_organiser_reads_how_it_ranks_and_the_size_of_the_truth() -> None:
    items = checklist(definition(), WHOLE, for_organisers=True)
    assert asked(items, "How does spotgeo").answer == (
        "By f1 (more is better), over all sequences together; ties are broken by mse (less is "
        "better)."
    )
    size = asked(items, "How many test cases")
    assert size.answer == "Sequences: 17. Frames: 7654. Objects: 4321."
    assert size.advice.startswith("With fewer than 20 sequences")
    assert asked(items, "What happens to equal").answer == "They share a rank."
    assert asked(items, "Can the ground truth").answer.startswith(
        "It is complete. Its newest revision is 3."
    )
    assert asked(items, "When are").advice.startswith("Set close_time")


def test_all_test_cases_are_counted_and_private_ones_only_for_organisers() -> None:
    """2 of 5 sequences and 160 of 400 objects are private; frames are counted only in all."""
    policy = {"visibility": "live", "private_sequences": ["4", "5"]}
    hosted = replace(definition(policy=policy), truth_size=TruthSize(objects=240, sequences=3))
    truth = TruthState(1, complete=True, frames=100, sequences=5, objects=400)
    size = "How many test cases"
    whole = asked(checklist(hosted, truth, for_organisers=True), size)
    assert whole.answer == "Sequences: 5. Frames: 100. Objects: 400."
    public = asked(checklist(hosted, truth, for_organisers=False), size)
    assert public.answer == "Sequences: 3. Frames: not shown to participants. Objects: 240."


@pytest.mark.parametrize(("finals", "told"), [(1, "one submission of"), (2, "2 submissions of")])
def test_the_checklist_shows_the_number_of_submissions_in_the_final_order(
    finals: int, told: str
) -> None:
    policy = {"visibility": "final", "private_sequences": ["4"], "final_submissions": finals}
    items = checklist(definition(policy=policy), WHOLE, for_organisers=False)
    assert f"among {told} each team" in asked(items, "Do sequences whose").answer


FROM_TWENTY = "; with fewer than 20 sequences, only organisers see it."
ALONE = ", which only organisers see, because the latest submission of each team counts."


@pytest.mark.parametrize(
    ("policy", "for_organisers", "end"),
    [
        ({"visibility": "live"}, False, f"first{FROM_TWENTY}"),
        ({"visibility": "live", "selection": "latest"}, False, f"first{FROM_TWENTY}"),
        ({"visibility": "final"}, False, f"first in steps of 0.1{FROM_TWENTY}"),
        ({"visibility": "final"}, True, f"first{FROM_TWENTY}"),
        ({"visibility": "final", "selection": "latest"}, False, f"first{ALONE}"),
        ({"visibility": "final", "selection": "latest"}, True, f"first{ALONE}"),
    ],
)
def test_the_checklist_shows_who_sees_probabilities_of_being_first(
    policy: dict[str, Any], for_organisers: bool, end: str
) -> None:
    items = checklist(definition(policy=policy), WHOLE, for_organisers=for_organisers)
    told = asked(items, "How is the uncertainty").answer
    assert told.endswith(f"by the probability of being {end}")


@pytest.mark.parametrize(("sequences", "told"), [(1, "Not at all"), (2, "By tiers"), (3, "By ti")])
def test_two_sequences_have_tiers(sequences: int, told: str) -> None:
    hosted = replace(definition(), truth_size=TruthSize(objects=9, sequences=sequences))
    items = checklist(hosted, WHOLE, for_organisers=True)
    assert asked(items, "How is the uncertainty").answer.startswith(told)


@pytest.mark.parametrize(("sequences", "few"), [(19, True), (20, False)])
def test_fewer_than_twenty_sequences_give_advice(sequences: int, few: bool) -> None:
    hosted = replace(definition(), truth_size=TruthSize(objects=99, sequences=sequences))
    items = checklist(hosted, WHOLE, for_organisers=True)
    assert bool(asked(items, "How many test cases").advice) is few


@pytest.mark.parametrize(
    ("question", "policy", "answer"),
    [
        (
            "What do teams",
            {"visibility": "final", "ladder_step": 0.01},
            "Once a submission is scored, the ranking measures, rounded to 0.01.",
        ),
        (
            "What do teams",
            {"visibility": "final", "ladder_step": 0.01, "released_measures": ["recall", "sse"]},
            "Once a submission is scored, the ranking measures and recall, sse, rounded to 0.01.",
        ),
        (
            "Do sequences whose",
            {"visibility": "final", "private_sequences": ["4", "5"]},
            (
                "2 of the sequences: no score over them is released before the benchmark closes, "
                "and they decide the final order, among 2 submissions of each team."
            ),
        ),
        (
            "Do sequences whose",
            {"visibility": "final", "private_sequences": 0.5},
            (
                "Some of the sequences: no score over them is released before the benchmark "
                "closes, and they decide the final order, among 2 submissions of each team."
            ),
        ),
        (
            "How many submissions",
            {"submissions_per_day": 3, "submissions_in_all": 40},
            "40 in all, 3 per day.",
        ),
        (
            "How many submissions",
            {"submissions_per_day": 0, "submissions_in_all": 40},
            "40 in all, any number per day.",
        ),
        (
            "What could a team",
            {"visibility": "live", "outcomes": "own"},
            "Whether each of its own detections is right, which locates objects.",
        ),
        (
            "What could a team",
            {},
            "Each score reveals something about the ground truth; their number bounds how much.",
        ),
        (
            "Who sees the",
            {"public_board": False},
            "Organisers only; only its own team sees the name of a submission.",
        ),
        (
            "Who sees the",
            {"public_board": True},
            "Everyone with a token; only its own team sees the name of a submission.",
        ),
    ],
)
def test_an_answer_follows_from_the_policy(
    question: str, policy: dict[str, Any], answer: str
) -> None:
    items = checklist(definition(policy=policy), WHOLE, for_organisers=False)
    assert asked(items, question).answer == answer


@pytest.mark.parametrize(("public", "advised"), [(True, False), (False, True)])
def test_a_board_that_is_not_public_gives_advice(public: bool, advised: bool) -> None:
    items = checklist(definition(policy={"public_board": public}), WHOLE, for_organisers=True)
    assert bool(asked(items, "Who sees the").advice) is advised


@pytest.mark.parametrize(
    ("public", "told"),
    [
        ([], "Nothing; never its objects."),
        (["labels"], "Labels; never its objects."),
        (
            ["sequences", "frame_counts"],
            (
                "Names of sequences and domains, first and last frame of each sequence; never its "
                "objects."
            ),
        ),
    ],
)
def test_the_checklist_lists_the_public_names(public: list[str], told: str) -> None:
    items = checklist(definition(public_names=public), WHOLE, for_organisers=False)
    assert asked(items, "What may participants know").answer == told


def test_a_board_on_the_web_is_described_as_public() -> None:
    hosted = definition(policy={"public_board_web": True})
    told = asked(checklist(hosted, WHOLE, for_organisers=False), "Who sees the leaderboard")
    assert told.answer.startswith("Everyone, also without a token;")


@pytest.mark.parametrize("visibility", ["ladder", "final"])
def test_a_participant_sees_no_count_of_truth_and_no_advice(visibility: str) -> None:
    hosted = definition(policy={"visibility": visibility}, public_names=["sequences", "labels"])
    items = checklist(hosted, WHOLE, for_organisers=False)
    whole = checklist(hosted, WHOLE, for_organisers=True)
    assert [item.question for item in items] == [item.question for item in whole]
    assert {item.advice for item in items} == {""}
    told = " ".join(item.answer for item in items)
    assert not {"17", "7654", "4321"} & set(told.replace(".", " ").split())
    assert "newest revision" not in told


def test_hidden_truth_does_not_change_what_a_participant_reads() -> None:
    """Two truths whose sizes only an organiser can see, with one quota and one step."""
    policy = {"visibility": "final", "submissions_in_all": 7, "ladder_step": 0.01}
    one = definition(policy=policy)
    other = replace(one, truth_size=TruthSize(objects=99, sequences=41))
    assert checklist(one, WHOLE, for_organisers=False) == checklist(
        other, TruthState(8, complete=True, frames=50), for_organisers=False
    )


def test_listed_sequences_are_counted_for_participants_if_they_are_public() -> None:
    listed = [{"name": str(number)} for number in range(23)]
    for public, expected in ((["sequences"], "23"), ([], "not shown to participants")):
        items = checklist(
            definition(sequences=listed, public_names=public), WHOLE, for_organisers=False
        )
        assert f"Sequences: {expected}." in asked(items, "How many test cases").answer


@pytest.mark.parametrize("visibility", list(Visibility))
def test_every_visibility_has_its_sentence(visibility: Visibility) -> None:
    items = checklist(
        definition(policy={"visibility": visibility.value}), WHOLE, for_organisers=True
    )
    assert asked(items, "What do teams see").answer


def test_weak_answers_come_with_advice() -> None:
    weak = definition(policy={"submissions_in_all": 0, "visibility": "live"})
    items = checklist(weak, replace(WHOLE, complete=False), for_organisers=True)
    weakest = ("How many submissions", "What do teams see", "Can the ground truth", "What could")
    for beginning in weakest:
        assert asked(items, beginning).advice, beginning


def test_a_benchmark_without_truth_says_so() -> None:
    bare = replace(definition(), truth_size=None)
    items = checklist(bare, TruthState(), for_organisers=True)
    assert asked(items, "How many test cases").answer.startswith("Not known")
    assert asked(items, "How is the uncertainty").answer.startswith("Not at all")


async def _items(client: Client) -> list[pb.ChecklistItem]:
    request = pb.GetChecklistRequest(benchmark=BENCHMARK)
    answer = await client.benchmarks.GetChecklist(request, metadata=client.metadata)
    return list(answer.items)


async def test_each_role_reads_its_own_checklist(hosted: Hosted) -> None:
    await hosted.organiser.create(dots(visibility=benchmark_pb2.VISIBILITY_FINAL))
    await hosted.organiser.upload(points({number: [(10.0, 20.0)] for number in range(1, 6)}))
    whole = await _items(hosted.organiser)
    assert any(item.answer == "Sequences: 1. Frames: 5. Objects: 5." for item in whole)
    assert any(item.advice for item in whole)
    for client in (hosted.red, hosted.viewer):
        items = await _items(client)
        assert [item.question for item in items] == [item.question for item in whole]
        assert not any(item.advice for item in items)
        assert "Objects: not shown to participants" in str(items)

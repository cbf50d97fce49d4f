"""The rules for detections, and how long they are cached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from msgspec import structs

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.testing.examples import Frames, Thing, make_annotations
from vidscore_server.domain.append_rules import (
    KEEP_S,
    AppendRules,
    NameCheck,
    RuleCache,
    check_names,
    known_names,
    late_warnings,
    needs_truth,
)
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.truth import TruthStore

# --- The rules for detections, worked out by hand


BOX = (1.0, 2.0, 3.0, 4.0)


def boxes(*labels: str, domain: str = "", sequence: str = "street") -> Annotations:
    """A frame with one box per label."""
    objects = [Thing(BOX, label) for label in labels]
    return make_annotations({(domain, sequence): {3: objects}})


def checked(
    detections: Annotations, truth: Annotations | None = None, evaluator: str = "f1", **more: Any
) -> NameCheck:
    definition = definition_from_dict({"evaluators": [{"name": evaluator, **_taken(more)}], **more})
    return check_names(known_names(definition, truth), detections, "x")


def _taken(more: dict[str, Any]) -> dict[str, Any]:
    parameters = more.pop("parameters", None)
    return {} if parameters is None else {"parameters": parameters}


@pytest.mark.parametrize(
    ("evaluator", "parameters", "warned"),
    [
        ("f1", {}, ["Car", "van"]),
        ("f1", {"classes": "ignore"}, []),
        ("neovision2", {}, ["van"]),
    ],
)
def test_only_labels_that_an_evaluator_distinguishes_give_warnings(
    evaluator: str, parameters: dict[str, Any], warned: list[str]
) -> None:
    """f1 is sensitive to case, neovision2 is not, and if classes are ignored no label matters."""
    found = checked(boxes("Car", "car", "van"), boxes("car"), evaluator, parameters=parameters)
    assert not found.faults
    assert [text.split("'")[1] for text in found.warnings] == warned


def test_a_label_is_listed_for_its_own_domain() -> None:
    domains = [{"name": "Tower", "classes": ["car"]}, {"name": "Helicopter", "classes": ["boat"]}]
    tower = checked(boxes("boat", domain="Tower"), domains=domains)
    assert [fault.expected for fault in tower.faults] == ["a label of domain Tower"]
    assert checked(boxes("boat", domain="Helicopter"), domains=domains) == NameCheck()
    assert checked(boxes("boat", domain="Elsewhere"), domains=domains) == NameCheck()


def test_labels_of_the_specification_are_listed_for_every_other_domain() -> None:
    more: dict[str, Any] = {"domains": [{"name": "Tower", "classes": ["car"]}], "classes": ["boat"]}
    found = checked(boxes("car", domain="Elsewhere"), **more)
    assert [(fault.expected, fault.advice) for fault in found.faults] == [
        ("a label of domain Elsewhere", "its labels are boat")
    ]
    assert checked(boxes("Boat", domain="Elsewhere"), **more) == NameCheck()
    assert checked(boxes("car", domain="Tower"), **more) == NameCheck()


def test_a_listed_label_is_refused_warned_about_or_accepted_depending_on_the_truth() -> None:
    """A listed label that no object has is accepted, unless objects have another spelling of it."""
    found = checked(boxes("car", "Car", "bus", "van"), boxes("car", "van"), classes=["Car", "bus"])
    assert [(fault.found, fault.expected) for fault in found.faults] == [
        ("label 'van'", "a label of the benchmark")
    ]
    [warning] = found.warnings
    assert warning.startswith("label 'Car' is not in the benchmark's ground truth")
    assert warning.endswith("did you mean car?")
    alone = [checked(boxes(label), boxes("car", "van"), classes=["Car", "bus"]) for label in
             ("car", "bus", "Bus", "van", "Car")]  # fmt: skip
    assert [(len(one.faults), len(one.warnings)) for one in alone] == [
        (0, 0), (0, 0), (0, 0), (1, 0), (0, 1)
    ]  # fmt: skip


def frames(*numbers: int, sequence: str = "street") -> Annotations:
    return make_annotations({("", sequence): {number: [] for number in numbers}}, arity=4)


TOLD = ["sequences", "labels", "frame_counts"]


@pytest.mark.parametrize(
    ("more", "faults"),
    [
        ({"public_names": ["sequences"]}, []),
        ({"public_names": TOLD}, [("frame 2 of sequence street, and 2 more", "frames 3 to 5", 0)]),
        (
            {"public_names": TOLD, "sequences": [{"name": "street"}]},
            [("frame 2 of sequence street, and 2 more", "frames 3 to 5", 0)],
        ),
        (
            {
                "public_names": TOLD,
                "sequences": [{"name": "street", "frame_count": 5, "first_frame": 2}],
            },
            [("frame 7 of sequence street", "frames 2 to 6", 4)],
        ),
        (
            {"public_names": TOLD, "sequences": [{"name": "street", "frame_count": 0}]},
            [("frame 2 of sequence street, and 4 more", "no frame", 0)],
        ),
    ],
)
def test_frames_are_checked_against_the_specification_or_else_the_truth(
    more: dict[str, Any], faults: list[tuple[str, str, int]]
) -> None:
    """The truth has frames 3 and 5 of the street, and one frame of the road."""
    truth = make_annotations({("", "road"): {1: []}, ("", "street"): {5: [], 3: []}}, arity=4)
    found = checked(frames(2, 3, 5, 6, 7), truth, **more)
    assert [(fault.found, fault.expected, fault.entry) for fault in found.faults] == faults


@pytest.mark.parametrize(
    ("more", "known"),
    [
        ({"public_names": []}, {"street", "road", "rail"}),
        ({"public_names": ["sequences"]}, {"street"}),
        ({"public_names": TOLD}, {"street"}),
        ({"public_names": ["sequences"], "sequences": [{"name": "road"}]}, {"road"}),
        ({"public_names": TOLD, "sequences": [{"name": "road"}]}, {"road"}),
    ],
)
def test_sequences_are_checked_against_the_specification_or_else_the_truth(
    more: dict[str, Any], known: set[str]
) -> None:
    for sequence in ("street", "road", "rail"):
        found = checked(frames(3, sequence=sequence), frames(3), **more)
        told = [fault.expected for fault in found.faults]
        assert told == ([] if sequence in known else ["a sequence of the benchmark"])


def test_if_several_frames_are_outside_the_first_is_named_and_the_rest_counted() -> None:
    truth = make_annotations({("", "street"): {3: [], 4: []}}, arity=4)
    for numbers, told in {(2, 3): "", (2, 3, 5): ", and 1 more", (1, 2, 5): ", and 2 more"}.items():
        [fault] = checked(frames(*numbers), truth, public_names=TOLD).faults
        assert fault.found == f"frame {numbers[0]} of sequence street{told}"


class Counted(np.ndarray[Any, Any]):
    """A column that counts how often it is processed."""

    count = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **more: Any) -> Any:
        type(self).count += 1
        plain = [np.asarray(one) for one in inputs]
        return getattr(ufunc, method)(*plain, **more)


def test_frames_of_any_number_of_sequences_are_compared_at_once() -> None:
    """A batch of 100,000 frames in 10,000 sequences took 4 s."""
    counts = []
    for count in (2, 200):
        batch = make_annotations({("", f"s{row}"): {3: []} for row in range(count)}, arity=4)
        listed = [{"name": f"s{row}", "frame_count": 3} for row in range(count)]
        numbers = batch.frame_numbers.view(Counted)
        Counted.count = 0
        found = checked(
            structs.replace(batch, frame_numbers=numbers), public_names=TOLD, sequences=listed
        )
        assert len(found.faults) == count
        counts.append(Counted.count)
    assert counts[0] == counts[1]


def test_a_label_is_checked_against_the_domain_of_its_own_object() -> None:
    """In one batch, with one label in each of three domains."""
    domains = [{"name": name, "classes": [name]} for name in ("air", "land", "sea")]
    batch = make_annotations(
        {(name, "s"): {1: [Thing(BOX, label)]}
         for name, label in (("air", "air"), ("land", "sea"), ("sea", "land"))}
    )  # fmt: skip
    assert [(fault.found, fault.expected) for fault in checked(batch, domains=domains).faults] == [
        ("label 'sea'", "a label of domain land"),
        ("label 'land'", "a label of domain sea"),
    ]


def test_if_no_object_of_the_truth_has_a_label_no_label_is_named() -> None:
    [warning] = checked(boxes("car"), boxes("")).warnings
    assert warning.endswith("can match nothing; its labels have no names")


def test_without_truth_names_are_checked_against_the_specification_only() -> None:
    assert checked(frames(9), public_names=TOLD) == NameCheck()
    assert checked(frames(9), public_names=TOLD, sequences=[{"name": "street"}]) == NameCheck()


def test_frames_sent_before_their_names_were_known_are_reported_to_bring_no_score() -> None:
    truth = make_annotations({("", "street"): {3: []}}, arity=4)
    found = checked(frames(3, 4), truth, public_names=TOLD)
    elsewhere = checked(frames(3, sequence="stret"), truth, public_names=TOLD)
    of_frame, of_sequence = late_warnings([found, elsewhere, found])
    assert of_frame == (
        "frame 4 of sequence street gets no score, because the benchmark has frames 3 to 3"
    )
    assert of_sequence == (
        "sequence stret gets no score, because it is not a sequence of the benchmark; "
        "did you mean street?"
    )


def test_a_label_of_the_table_that_no_object_has_is_ignored() -> None:
    used = boxes("car", "zebra")
    assert checked(used.take_objects(used.label_indices == 0), boxes("car")) == NameCheck()


def test_objects_without_a_label_give_a_warning_if_the_truth_has_labels() -> None:
    [warning] = checked(boxes(""), boxes("car")).warnings
    assert warning.startswith("objects without a label are not in")
    assert checked(boxes(""), boxes("")) == NameCheck()


@pytest.mark.parametrize(
    ("change", "needed"),
    [
        ({}, True),
        ({"public_names": []}, False),
        ({"public_names": ["sequences"]}, True),
        ({"public_names": ["sequences"], "sequences": [{"name": "a"}]}, False),
        ({"public_names": ["sequences", "frame_counts"], "sequences": [{"name": "a"}]}, True),
        (
            {
                "public_names": ["sequences", "frame_counts"],
                "sequences": [{"name": "a", "frame_count": 3}],
            },
            False,
        ),
        ({"evaluators": [{"name": "spotgeo"}], "sequences": [{"name": "a"}]}, False),
    ],
)
def test_truth_is_read_only_if_it_defines_the_known_names(
    change: dict[str, Any], needed: bool
) -> None:
    definition = definition_from_dict({"evaluators": [{"name": "f1"}], **change})
    assert needs_truth(definition) is needed


def test_the_advice_is_bounded_for_any_number_of_unknown_names() -> None:
    """A thousand sequences beside a thousand known ones; each is reported, five with advice."""
    known: Frames = {("", f"known-{row}"): {0: []} for row in range(1000)}
    wrong: Frames = {("", f"wrong-{row}"): {0: []} for row in range(1000)}
    truth, detections = make_annotations(known, arity=4), make_annotations(wrong, arity=4)
    found = checked(detections, truth)
    assert len(found.faults) == 1000
    assert sum(fault.advice is not None for fault in found.faults) == 5
    late = late_warnings([found, checked(detections.take_frames(np.arange(9, 99)), truth)])
    assert len(late) == 20
    assert all(text.startswith("sequence wrong-") and "None" not in text for text in late)


# --- The rules of a benchmark are read once for all waiting callers, and not cached over a change


BENCHMARK = "night"


class _Store:
    """Reads from it end when the test allows; each returns the state at its start.

    Attributes:
        state: What a read that begins now returns.
        reads: Reads that have begun.
        now_s: The time.
    """

    def __init__(self) -> None:
        self.state: object = object()
        self.reads = 0
        self.now_s = 0.0
        self._may_end = asyncio.Event()

    def monotonic(self) -> float:
        return self.now_s

    async def read(self, query: Callable[[Any], Any]) -> Any:
        self.reads += 1
        seen = self.state
        await self._may_end.wait()
        if isinstance(seen, Exception):
            raise seen
        return query(seen)

    def end_reads(self) -> None:
        self._may_end.set()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> _Store:
    monkeypatch.setattr(RuleCache, "_look_up", lambda _, reader, __: (reader, reader))
    return _Store()


@pytest.fixture
def rules(store: _Store) -> RuleCache:
    unused = object()
    return RuleCache(cast("Context", store), cast("Benchmarks", unused), cast("TruthStore", unused))


def _ask(rules: RuleCache) -> asyncio.Task[AppendRules]:
    return asyncio.ensure_future(rules.of(BENCHMARK))


async def _begin(*waiting: asyncio.Task[AppendRules]) -> None:
    await asyncio.wait(waiting, timeout=0)
    await asyncio.sleep(0)


async def test_simultaneous_callers_share_one_read(store: _Store, rules: RuleCache) -> None:
    waiting = [_ask(rules) for _ in range(8)]
    await _begin(*waiting)
    store.end_reads()
    assert await asyncio.gather(*waiting) == [store.state] * 8
    assert store.reads == 1


async def test_the_rules_are_read_again_after_a_while(store: _Store, rules: RuleCache) -> None:
    store.end_reads()
    await rules.of(BENCHMARK)
    store.now_s = KEEP_S / 2
    await rules.of(BENCHMARK)
    assert store.reads == 1
    store.now_s, store.state = KEEP_S, object()
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2


async def test_a_caller_that_gives_up_leaves_the_others_waiting(
    store: _Store, rules: RuleCache
) -> None:
    first, second = _ask(rules), _ask(rules)
    await _begin(first, second)
    first.cancel()
    await _begin(second)
    store.end_reads()
    assert await second is store.state
    assert store.reads == 1


async def test_rules_read_before_a_change_are_not_cached(store: _Store, rules: RuleCache) -> None:
    early = _ask(rules)
    await _begin(early)
    before, store.state = store.state, object()
    rules.forget(BENCHMARK)
    late = _ask(rules)
    await _begin(late)
    store.end_reads()
    assert await early is before
    assert await late is store.state
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2


async def test_an_error_reaches_all_callers_and_the_next_one_reads_again(
    store: _Store, rules: RuleCache
) -> None:
    store.state = LookupError("no such benchmark")
    waiting = [_ask(rules) for _ in range(2)]
    await _begin(*waiting)
    store.end_reads()
    found = await asyncio.gather(*waiting, return_exceptions=True)
    assert found == [store.state] * 2
    store.state = object()
    assert await rules.of(BENCHMARK) is store.state
    assert store.reads == 2

"""Which truth and rules a board is to be scored by: the newest complete one, and of any server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version
from tests.server.domain.hosted import Hosted
from tests.server.scene import points

from vidscore_evaluators.registry import create_evaluator
from vidscore_server.domain.basis import Basis, board_state, is_newer, own_basis, wanted_basis
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.store import open_store
from vidscore_server.store.records import BenchmarkRecord

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("1.9.0", "1.10.0"),
        ("1.0", "1.0.0"),
        ("1.0.0rc2", "1.0.0rc10"),
        ("1.0.0rc1", "1.0.0"),
        ("1.0.0²", "1.0.0"),
        ("2 beta", "2 gamma"),
        ("1.0", "1.0.post1"),
        ("1.0.0", "1.0.post1"),
        ("1.0.dev3", "1.0a1"),
        ("1.0", "1.0+local.2"),
        ("1.0+local.2", "1.0+local.10"),
        ("1.0+local", "1.0.post1"),
    ],
)
def test_a_board_keeps_rules_that_are_newer_than_those_of_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: str, newer: str
) -> None:
    store = open_store(str(tmp_path / "store.db"))
    with store.read() as reader:
        for own, shown, wanted in ((older, newer, newer), (newer, older, newer)):
            monkeypatch.setattr(type(create_evaluator("f1")), "version", own)
            definition = definition_from_dict({"evaluators": [{"name": "f1"}]})
            board = Basis(1, {"f1": f"f1 {shown} digest"}).to_json()
            record = BenchmarkRecord(
                "b", "{}", None, None, NOON, NOON, truth_revision=1, board=board
            )
            found = wanted_basis(reader, definition, record)
            assert found is not None
            assert found.configurations["f1"].startswith(f"f1 {wanted} ")
    store.close()


_NUMBER = st.integers(0, 12)
_RELEASE = st.lists(_NUMBER, min_size=1, max_size=3).map(lambda parts: ".".join(map(str, parts)))
_PRE = st.tuples(st.sampled_from(["a", "b", "rc"]), _NUMBER).map("{0[0]}{0[1]}".format)
_LOCAL = st.lists(st.sampled_from(["a", "b", "2", "10"]), min_size=1, max_size=2)


@st.composite
def _versions(draw: st.DrawFn) -> str:
    rest = (_PRE, _NUMBER.map(".post{}".format), _NUMBER.map(".dev{}".format))
    parts = [draw(_RELEASE), *(draw(st.just("") | part) for part in rest)]
    return "".join(parts) + draw(st.just("") | _LOCAL.map(lambda local: "+" + ".".join(local)))


@given(_versions(), _versions())
def test_versions_are_ordered_by_pep_440(one: str, other: str) -> None:
    """The oracle is `packaging`, in which 1.0 and 1.0.0 are equal."""
    if Version(one) == Version(other):
        return
    older, newer = sorted((one, other), key=Version)
    assert is_newer({"f1": f"f1 {newer} x"}, {"f1": f"f1 {older} x"})
    assert not is_newer({"f1": f"f1 {older} x"}, {"f1": f"f1 {newer} x"})


async def test_the_newest_complete_truth_is_the_basis_or_else_the_newest(hosted: Hosted) -> None:
    """Nothing is wanted of a board without a score."""
    await hosted.organiser.create_benchmark()
    revisions = []
    for complete in (False, True, False):
        await hosted.organiser.upload(points({1: [(1.0, 2.0)]}), complete=complete)
        with hosted.hosting.context.store.read() as reader:
            record = reader.benchmark("dots")
            assert record is not None
            definition = hosted.hosting.benchmarks.definition(record)
            own = own_basis(reader, definition, record)
            assert own is not None
            revisions.append(own.truth_revision)
            state = board_state(reader, definition, record)
            assert (state.shown, state.wanted, state.waiting) == (None, None, ())
    assert revisions == [1, 2, 2]

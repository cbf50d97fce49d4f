"""What is made under a key is made once."""

from __future__ import annotations

from vidscore_evaluators.memo import Memo


def test_each_key_is_made_once_and_kept_even_if_it_is_nothing() -> None:
    memo, made = Memo(), []

    def make(value: object) -> object:
        made.append(value)
        return value

    for _ in range(2):
        assert memo.once("nothing", lambda: make(None)) is None
        assert memo.once(("pair", 1), lambda: make("one")) == "one"
    assert memo.once(("pair", 2), lambda: make("two")) == "two"
    assert made == [None, "one", "two"]


def test_memos_know_nothing_of_each_other() -> None:
    assert Memo().once("key", lambda: 1) == 1
    assert Memo().once("key", lambda: 2) == 2

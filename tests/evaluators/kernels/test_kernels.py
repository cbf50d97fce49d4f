"""The kernel library belongs to the sources beside it, and refuses invalid arguments."""

from __future__ import annotations

import shutil
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from hatch_build import compile_loops
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.kernels.declarations import in_header, in_python, in_sources

from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.kernels import group_rows
from vidscore_evaluators.kernels._library import Kernel, element_type, load

DIGEST = """
#include <stdint.h>
int64_t sources_digest(void) { return SOURCES_DIGEST; }
"""
SUM = """
#include <stdint.h>
int64_t sum(const int64_t *numbers, int64_t count, int64_t more)
{
    for (int64_t index = 0; index < count; index++)
        more += numbers[index];
    return more;
}
"""
LARGEST = 2**63 - 1


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a library that adds numbers."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "digest.c").write_text(DIGEST)
    (folder / "sum.c").write_text(SUM)
    compile_loops(folder)
    return folder


@pytest.fixture(scope="module")
def total(built: Path) -> Kernel:
    return Kernel(load(built), "sum", (np.int64, int, int))


def test_arrays_and_integers_reach_c_unchanged(total: Kernel) -> None:
    assert total(np.array([3, -5, 2**40]), 3, 7) == 2**40 + 5
    assert total(np.array([3, -5, 2**40]), np.int64(2), 0) == -2


# The form of NDArray[element] in the installed numpy, before numpy 2.5, and from numpy 2.5 on.
HINTS = {
    "installed": IntArray,
    "former": types.GenericAlias(np.ndarray, (tuple, types.GenericAlias(np.dtype, (np.int64,)))),
    "present": types.GenericAlias(np.ndarray, (np.int64,)),
}


@pytest.mark.parametrize("hint", HINTS.values(), ids=HINTS)
def test_the_element_type_is_read_from_the_hint_in_every_numpy(hint: object) -> None:
    assert element_type(hint) is np.int64


def test_an_empty_array_has_an_address_too(total: Kernel) -> None:
    assert total(np.empty(0, dtype=np.int64), 0, 5) == 5


def test_a_read_only_array_can_be_read(total: Kernel) -> None:
    numbers = np.frombuffer(np.array([1, 2]).tobytes(), dtype=np.int64)
    assert total(numbers, 2, 0) == 3


@pytest.mark.parametrize("number", [LARGEST, -LARGEST - 1])
def test_a_number_of_64_bits_is_passed(total: Kernel, number: int) -> None:
    assert total(np.empty(0, dtype=np.int64), 0, number) == number


@pytest.mark.parametrize("number", [LARGEST + 1, -LARGEST - 2])
def test_a_larger_number_is_refused_and_not_truncated(total: Kernel, number: int) -> None:
    with pytest.raises(OverflowError, match=f"{number} does not fit into 64 bits"):
        total(np.empty(0, dtype=np.int64), 0, number)


@pytest.mark.parametrize("number", [1.0, "1", None, np.array([1, 2])])
def test_a_value_that_is_not_an_integer_is_refused(total: Kernel, number: AnyArray) -> None:
    with pytest.raises(TypeError, match="int"):
        total(np.empty(0, dtype=np.int64), 0, number)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3, dtype=np.float64),
        np.zeros(3, dtype=np.int32),
        np.zeros(3, dtype=np.uint64),
        np.zeros(3, dtype=np.dtype(np.int64).newbyteorder()),
        np.zeros(3, dtype=object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_an_array_of_another_type_is_refused(total: Kernel, array: AnyArray) -> None:
    with pytest.raises(
        TypeError, match=f"got an array of {array.dtype}, expected an array of int64"
    ):
        total(array, 0, 0)


@pytest.mark.parametrize("value", [None, 5, [1, 2], b"12345678"], ids=repr)
def test_an_argument_that_is_not_an_array_is_refused(total: Kernel, value: AnyArray) -> None:
    with pytest.raises(TypeError, match=f"got {type(value).__name__}, expected an array of int64"):
        total(value, 0, 0)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(10)[::2],
        np.arange(10)[::-1],
        np.arange(10).reshape(2, 5).T,
        np.broadcast_to(np.int64(1), 5),
        np.frombuffer(bytes(9), dtype=np.uint8)[1:].view(np.int64),
    ],
    ids=["gaps", "backwards", "columns first", "repeated", "between two words"],
)
def test_an_array_with_another_memory_layout_is_refused(total: Kernel, array: AnyArray) -> None:
    with pytest.raises(ValueError, match="must be C-contiguous and aligned"):
        total(array, 0, 0)


def test_arguments_are_counted(total: Kernel) -> None:
    for arguments in ((), (np.zeros(1, dtype=np.int64), 1), (np.zeros(1, dtype=np.int64), 1, 1, 1)):
        with pytest.raises(ValueError, match="argument"):
            total(*arguments)


def test_a_function_that_the_library_lacks_is_noticed_at_once(built: Path) -> None:
    with pytest.raises(AttributeError, match="product"):
        Kernel(load(built), "product", ())


def test_a_missing_library_is_an_error_with_advice(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match=r"^loops\.so of vidscore cannot be loaded .*make loops"):
        load(tmp_path)


def test_a_file_that_is_not_a_library_is_an_error_with_advice(tmp_path: Path) -> None:
    (tmp_path / "loops.so").write_bytes(b"not a library")
    with pytest.raises(ImportError, match=r"^loops\.so of vidscore cannot be loaded .*make loops"):
        load(tmp_path)


@pytest.mark.parametrize("change", ["changed", "more", "fewer", "header"])
def test_a_library_of_other_sources_is_refused(built: Path, tmp_path: Path, change: str) -> None:
    """New Python code could call an old library with arguments that it does not expect."""
    folder = shutil.copytree(built, tmp_path / "copy")
    load(folder)
    if change == "changed":
        (folder / "sum.c").write_text(SUM.replace("+=", "-="))
    elif change == "fewer":
        (folder / "sum.c").unlink()
    else:
        (folder / f"more.{'h' if change == 'header' else 'c'}").write_text("/* more */\n")

    with pytest.raises(ImportError, match=r"not compiled from the sources beside it.*make loops"):
        load(folder)


def test_sources_that_do_not_compile_leave_the_library_unchanged(
    built: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(built, tmp_path / "copy")
    (folder / "wrong.c").write_text("int64_t wrong(void) { return 0; }\n")
    with pytest.raises(CalledProcessError):
        compile_loops(folder)
    assert names(folder) == {"digest.c", "sum.c", "wrong.c", "loops.so"}
    assert (folder / "loops.so").read_bytes() == (built / "loops.so").read_bytes()


def test_the_sources_can_call_no_function_of_others(tmp_path: Path) -> None:
    """Not even the C library: the loops run wherever the processor does."""
    (tmp_path / "digest.c").write_text(DIGEST)
    (tmp_path / "more.c").write_text(
        "int getpid(void);\nint more(void);\nint more(void) { return getpid(); }\n"
    )
    with pytest.raises(CalledProcessError):
        compile_loops(tmp_path)


def test_two_simultaneous_builds_both_leave_an_intact_library(built: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(built, tmp_path / "copy")
    with ThreadPoolExecutor() as pool:
        for _ in pool.map(compile_loops, [folder] * 2):
            load(folder)
    assert names(folder) == {"digest.c", "sum.c", "loops.so"}


def test_compiling_needs_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(home))
    (tmp_path / "digest.c").write_text(DIGEST)
    load(compile_loops(tmp_path).parent)
    assert not home.exists()


def test_python_and_the_header_declare_the_same_functions_as_the_sources() -> None:
    assert in_python() | {"sources_digest": ()} == in_header() == in_sources()


# --- Rows in the order of their keys, compared with Python's sort of tuples


CODES = st.integers(-2, 2) | st.sampled_from([-(2**63), 2**63 - 1])
NUMBERS = st.sampled_from([0.0, 0.5, -1.0, 1e300, float("inf"), -float("inf"), 5e-324])


def _grouped(rows: list[tuple[int, int, float]]) -> tuple[list[int], list[int]]:
    codes = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
    numbers = np.array([row[2:] for row in rows], dtype=np.float64).reshape(-1, 1)
    scratch, order, first = np.empty((3, len(rows)), dtype=np.int64)
    count = group_rows(codes, 2, numbers, 1, len(rows), scratch, order, first)
    return order.tolist(), first[:count].tolist()


@given(st.lists(st.tuples(CODES, CODES, NUMBERS), max_size=40))
def test_rows_are_sorted_by_codes_and_then_by_numbers(rows: list[tuple[int, int, float]]) -> None:
    order, first = _grouped(rows)
    # Python's sort is stable as well.
    assert order == sorted(range(len(rows)), key=rows.__getitem__)
    ordered = [rows[row] for row in order]
    assert first == [
        row for row in range(len(rows)) if row == 0 or ordered[row] != ordered[row - 1]
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 1000, 1023, 1024, 1025])
def test_any_number_of_rows_is_sorted(count: int) -> None:
    random = np.random.default_rng(count)
    rows = [(int(a), int(b), float(c)) for a, b, c in random.integers(0, 9, (count, 3)).tolist()]
    assert _grouped(rows)[0] == sorted(range(count), key=rows.__getitem__)

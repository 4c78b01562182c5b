"""Compiled functions: the same results from Numba and from the cache, and a cache that notices every change."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pytest

from warploom.numerics import _stored
from warploom.numerics._compile import njit, specialized
from warploom.numerics._compiled import Compiled, store_functions, words_of
from warploom.numerics._fingerprint import UnidentifiedObject, fingerprint

STEP = 3
TABLE = np.arange(4)


class Pair(NamedTuple):
    first: int
    second: int


class Kind(IntEnum):
    SMALL = 1


def helper(x: int) -> int:
    return x + STEP


def user(x: int) -> int:
    return helper(x) + Kind.SMALL


def scaled(x: Any, factor: Any) -> Any:
    return x * factor + TABLE[1]


def with_temporary(x: Any, out: Any) -> None:
    copy = np.empty(x.shape, np.float64)
    for i in range(len(x)):
        copy[i] = 2.0 * x[i]
    for i in range(len(x)):
        out[i] = copy[len(x) - 1 - i]


def rounded(x: Any, factor: Any) -> Any:
    return x * factor + 1


scalar: Any = None


def loop(x: Any, out: Any, *factors: Any) -> None:
    for i in range(len(x)):
        out[i] = scalar(x[i], factors[0])


def larger(x: int, y: int) -> bool:
    return x > y


def half(x: float) -> float:
    return x / 2


def truncated(x: float) -> int:
    return int(2 * x)


def nothing(x: Any) -> None:
    x[0] = 1


def optional(x: Any) -> int:
    return 0 if x is None else 1


def chosen(flag: bool, value: int) -> int:
    return value if flag else -value


def fields(pair: Pair) -> int:
    return 10 * pair.first + pair.second


def first_of(pair: tuple[int, int]) -> int:
    return pair[0] - 7 * pair[1]


def positive(x: int) -> int:
    if x < 0:
        raise ValueError("negative")
    return x


def sum_of_a(records: Any) -> Any:
    total = 0
    for record in records:
        total += record.a
    return total


def doubled(x: Any) -> Any:
    return 2 * x


def strided(x: Any) -> Any:
    total = 0
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total = total * 7 + x[i, k]
    return total


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))


def last(array: Any) -> Any:
    return array[-1, -1]


def fresh(function: Any, **options: Any) -> Any:
    """A compiled function as in a process after this one, without Numba's own cache of this file."""
    store_functions()
    return Compiled(function, is_stored=False, **options)


def native_call(function: Any, *arguments: Any) -> int:
    """Call a stored function as native code does."""
    words = np.array([word for each in arguments for word in words_of(each)], np.uint64)
    entry = function.native_entry(*arguments)
    assert entry
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(entry)(words.ctypes.data)


WIDE = np.arange(12, dtype=np.int64).reshape(3, 4)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (strided, (WIDE,)),
        (strided, (WIDE.T,)),
        (strided, (WIDE[:, ::2],)),
        (strided, (WIDE.astype(np.float32),)),
        (strided, (np.zeros((0, 3), np.int64),)),
        (larger, (3, 2)),
        (larger, (np.int64(-3), 2)),
        (larger, (2**62, -(2**63))),
        (half, (3.5,)),
        (half, (np.float64(-3.5),)),
        (half, (np.float32(3.5),)),
        (half, (np.uint16(7),)),
        (optional, (None,)),
        (optional, (True,)),
        (chosen, (True, 5)),
        (chosen, (False, 5)),
        (chosen, (np.True_, 5)),
        (chosen, (np.False_, 5)),
        (fields, (Pair(1, 2),)),
        (first_of, ((3, 4),)),
    ],
)
def test_a_stored_function_returns_what_numba_returns(function: Any, arguments: tuple[Any, ...]) -> None:
    compiled = fresh(function)
    expected = compiled(*arguments)
    loaded = fresh(function)
    found = loaded(*arguments)
    assert "dispatcher" not in vars(loaded)
    assert (found, type(found)) == (expected, type(expected))
    assert found == function(*arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (strided, (WIDE,)),
        (strided, (WIDE[::-1, ::2],)),
        (larger, (2**62, -(2**63))),
        (larger, (2, 3)),
        (chosen, (True, -5)),
        (chosen, (False, 5)),
        (fields, (Pair(1, 2),)),
        (first_of, ((3, 4),)),
        (optional, (None,)),
        (truncated, (3.5,)),
        (truncated, (np.float32(-3.5),)),
        (nothing, (WIDE[0].copy(),)),
    ],
)
def test_native_code_can_call_a_stored_function(function: Any, arguments: tuple[Any, ...]) -> None:
    fresh(function)(*arguments)
    loaded = fresh(function)
    assert loaded.native_entry("another type") == 0
    assert native_call(loaded, *arguments) == int(function(*arguments) or 0)
    assert "dispatcher" not in vars(loaded)


def test_native_code_gets_an_exception_as_a_number() -> None:
    fresh(positive)(1)
    loaded = fresh(positive)
    assert native_call(loaded, 1) == 1
    assert native_call(loaded, -1) == _stored.FAILED


def test_each_stored_signature_has_its_own_native_entry() -> None:
    compiled = fresh(strided)
    assert compiled.native_entry(WIDE) == 0  # Numba has compiled nothing yet
    compiled(WIDE)
    compiled(WIDE.T)
    loaded = fresh(strided)
    assert loaded.native_entry(WIDE) != loaded.native_entry(WIDE.T)
    assert loaded.native_entry(WIDE.astype(np.int32)) == 0
    for each in (WIDE, WIDE.T):
        assert native_call(loaded, each) == strided(each)


def test_arrays_of_swapped_bytes_are_not_taken_for_native_arrays() -> None:
    fresh(strided)(WIDE)
    loaded = fresh(strided)
    with pytest.raises(Exception, match="Unsupported array dtype"):  # a message of Numba
        loaded(WIDE.astype(WIDE.dtype.newbyteorder()))


def test_copies_of_a_dtype_are_equal_to_it() -> None:
    fresh(strided)(WIDE)
    loaded = fresh(strided)
    assert loaded(WIDE.view(np.dtype(np.int64, copy=True))) == strided(WIDE)
    assert "dispatcher" not in vars(loaded)


def test_rejected_arguments_are_not_compiled() -> None:
    compiled = Compiled(last, accepts=lambda array: array.flags.c_contiguous)
    assert compiled(WIDE.T) is False
    assert compiled(WIDE) == last(WIDE)
    assert compiled(WIDE.T) is False
    assert len(compiled.dispatcher.overloads) == 1


def test_read_only_arrays_have_their_own_signature() -> None:
    array = WIDE.copy()
    array.flags.writeable = False
    fresh(strided)(array)
    loaded = fresh(strided)
    loaded(array)
    assert "dispatcher" not in vars(loaded)
    loaded(WIDE)
    assert "dispatcher" in vars(loaded)


def test_temporary_arrays_are_allocated_and_freed() -> None:
    x, out = np.arange(5.0), np.zeros(5)
    fresh(with_temporary)(x, out)
    loaded = fresh(with_temporary)
    for _ in range(100):
        loaded(x, out := np.zeros(5))
    assert "dispatcher" not in vars(loaded)
    assert (out == [8, 6, 4, 2, 0]).all()


def test_further_arguments_of_specialized_loops() -> None:
    x = np.arange(4, dtype=np.int64)
    copies: list[Any] = [specialized(loop, rounded) for _ in range(2)]
    for compiled in copies:
        store_functions()
        out = np.zeros(4, np.int64)
        compiled(x, out, 5)
        assert (out == 5 * x + 1).all()
    assert "dispatcher" not in vars(copies[1])


def test_arguments_of_other_types_are_compiled_and_stored_as_well() -> None:
    fresh(larger)(1, 2)
    loaded = fresh(larger)
    assert loaded(1, 2) is False
    assert "dispatcher" not in vars(loaded)
    assert loaded(2.5, 1) is True
    assert loaded(1, 2) is False
    again = fresh(larger)
    assert again(2.5, 1) is True
    assert again(1, 2) is False
    assert again(2**70 > 0, 1) is False
    store_functions()
    assert len(_stored.read(again._key)) == 3


def test_functions_that_return_arrays_stay_with_numba() -> None:
    compiled = fresh(doubled)
    assert compiled(WIDE).tolist() == (2 * WIDE).tolist()
    assert compiled(WIDE + 1).tolist() == (2 * WIDE + 2).tolist()
    store_functions()
    assert _stored.read(compiled._key) == []


def test_tuples_have_their_own_signatures() -> None:
    fresh(first_of)((3, 4))
    loaded = fresh(first_of)
    assert loaded((3, 4)) == -25
    assert "dispatcher" not in vars(loaded)
    assert loaded(Pair(3, 5)) == -32
    assert loaded((3, 4, 5)) == -25


def test_an_exception_of_the_function_is_reported() -> None:
    assert fresh(positive)(1) == 1
    loaded = fresh(positive)
    assert loaded(2) == 2
    with pytest.raises(RuntimeError, match="the compiled function 'positive' failed"):
        loaded(-1)
    assert loaded(3) == 3
    assert "dispatcher" not in vars(loaded)


def test_record_arrays_stay_with_numba() -> None:
    records = np.array([(1, 2.0), (3, 4.0)], np.dtype([("a", np.int64), ("b", np.float64)]))
    compiled = fresh(sum_of_a)
    assert compiled(records) == 4
    store_functions()
    assert _stored.read(compiled._key) == []


def test_a_wrong_number_of_arguments_is_reported() -> None:
    fresh(half)(1.0)
    with pytest.raises(TypeError):
        fresh(half)(1.0, 2.0)


def test_a_function_that_returns_nothing() -> None:
    for _ in range(2):
        x = np.zeros(1, np.int64)
        assert fresh(nothing)(x) is None
        assert x[0] == 1


def test_damaged_entries_are_compiled_again(tmp_path: Path) -> None:
    fresh(half)(1.0)
    store_functions()
    for entry in (tmp_path / "functions").iterdir():
        entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    loaded = fresh(half)
    assert loaded(1.0) == 0.5
    assert "dispatcher" in vars(loaded)


def with_globals(function: FunctionType, **changes: Any) -> FunctionType:
    return FunctionType(function.__code__, function.__globals__ | changes, function.__name__)


def other_helper(x: int) -> int:
    return x + STEP + 1


def test_a_digest_depends_on_everything_that_a_function_uses() -> None:
    class Other(IntEnum):
        SMALL = 2

    def branch(x: int, *, flag: bool = True) -> int:
        return x if flag else 0

    def branch_with_another_default(x: int, *, flag: bool = False) -> int:
        return x if flag else 0

    variants = [
        fingerprint(user),
        fingerprint(with_globals(user, helper=with_globals(helper, STEP=4))),
        fingerprint(with_globals(user, helper=other_helper)),
        fingerprint(with_globals(user, helper=Compiled(helper))),
        fingerprint(with_globals(user, helper=Compiled(helper, "always"))),
        fingerprint(with_globals(user, Kind=Other)),
        fingerprint(scaled),
        fingerprint(with_globals(scaled, TABLE=np.arange(5))),
        fingerprint(with_globals(scaled, TABLE=TABLE.astype(np.int32))),
        fingerprint(branch),
        fingerprint(branch_with_another_default),
    ]
    assert len(set(variants)) == len(variants)
    assert fingerprint(user) == fingerprint(with_globals(user))


def test_objects_without_known_contents_have_no_digest() -> None:
    with pytest.raises(UnidentifiedObject):
        fingerprint(with_globals(user, helper=object()))
    compiled = Compiled(with_globals(helper, STEP=5))
    assert compiled._key is not None


PROGRAM = """
import sys
import numpy as np
from warploom.emulator.access import load_indexed
from warploom.numerics import float_kernels, permute
words, out = np.arange(64, dtype=np.uint32), np.zeros((1, 1, 32), np.uint32)
load_indexed(words, 4 * np.arange(32)[None] + 4, np.ones((1, 32), bool), out)
found = permute.permuted(out.ravel(), out.ravel() + 1, np.full(32, 0x3210, np.uint32))
print(out.ravel().tolist(), found.tolist(), "numba" in sys.modules)
"""


def test_a_later_process_does_not_import_numba() -> None:
    first, second = (
        subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    )
    assert first.split()[:-1] == second.split()[:-1]
    assert (first.split()[-1], second.split()[-1]) == ("True", "False")


def test_a_changed_constant_of_another_module_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "caller.py").write_text(
        "from callee import added\nfrom warploom.numerics._compile import njit\n\n\n"
        "@njit\ndef twice(x):\n    return added(added(x))\n\n\nprint(twice(1))\n"
    )
    found: list[str] = []
    for step in (2, 2, 3):
        (tmp_path / "callee.py").write_text(
            f"from warploom.numerics._compile import njit\n\nSTEP = {step}\n\n\n"
            "@njit\ndef added(x):\n    return x + STEP\n"
        )
        command = [sys.executable, "-B", "caller.py"]
        found.append(subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip())
        shutil.rmtree(tmp_path / "functions")  # Numba's cache stays
    assert found == ["5", "5", "7"]


def test_all_functions_of_the_emulator_have_a_digest() -> None:
    for name in ("observe.sanitize.sanitizer", "runtime.cpu"):
        import_module(f"warploom.{name}")
    modules = [module for name, module in sys.modules.items() if name.startswith("warploom.")]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, Compiled)]
    assert len(found) > 50
    assert all(each._key is not None for each in found)


def test_njit_keeps_name_and_documentation() -> None:
    assert njit(half).__name__ == "half"

"""Tests of the emulator and of the arithmetic, repeated without Numba and the other packages of `without_numba`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def python(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=TESTS.parent, env=os.environ | {"PYTHONPATH": str(TESTS)},
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize(
    "files",
    [
        ("emulator/test_atomics.py", "emulator/test_printf.py", "emulator/test_waiting.py", "numerics/test_compare.py"),
        (
            "emulator/test_barriers.py",
            "emulator/test_calls.py",
            "emulator/test_functions.py",
            "numerics/test_floats.py",
        ),
        ("emulator/test_divergence.py", "numerics/test_integers.py", "numerics/test_packed.py"),
    ],
    ids=["memory", "control and floating", "divergence and integers"],
)
def test_the_same_tests_pass_without_numba(files):
    done = python("-m", "pytest", "-q", "-n0", "-p", "without_numba", *(str(TESTS / file) for file in files))
    assert done.returncode == 0, done.stdout[-2000:]
    assert " passed" in done.stdout


def test_the_compiler_needs_numba():
    done = python("-c", "import without_numba, os\nos.environ['WARPLOOM_ENGINE'] = 'compiler'\n" + ENGINE)
    assert done.stdout == "the engine 'compiler' needs Numba, which is not installed\n", done.stderr


def test_a_type_of_ml_dtypes_is_refused_without_the_package():
    done = python("-c", "import without_numba\n" + ELEMENT)
    assert done.stdout == "bfloat16 needs the package ml-dtypes, which is not installed\n", done.stderr


ENGINE = """
import warploom as wl
from warploom.emulator.executable import engine_name
try:
    engine_name()
except wl.UsageError as error:
    print(error)
"""
ELEMENT = """
import warploom as wl
from warploom.runtime.dtypes import dtype_named
assert dtype_named("float16").itemsize == 2
try:
    dtype_named("bfloat16")
except wl.UsageError as error:
    print(error)
"""

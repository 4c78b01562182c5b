"""The tiers of the suite: each pattern of `tiers.py` names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path

from tiers import EVIDENCE, GPU, GPU_TOO

TESTS = Path(__file__).resolve().parents[1]


def unmatched(patterns: list[str]) -> list[str]:
    """Return the patterns that match no test file, or no test function of the files that they match."""
    found = [
        f"{path.relative_to(TESTS).as_posix()}::{function}"
        for path in TESTS.rglob("test_*.py")
        for function in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    # Parameters in brackets are known after the collection only.
    functions = [re.compile(pattern.partition(r"\[")[0]) for pattern in patterns]
    return [
        pattern for pattern, function in zip(patterns, functions, strict=True) if not any(map(function.match, found))
    ]


def test_every_pattern_matches_a_test() -> None:
    patterns = [pattern for subject in EVIDENCE.values() for pattern in subject]
    assert unmatched([*patterns, *GPU, *GPU_TOO]) == []


def test_a_pattern_of_a_missing_test_is_found() -> None:
    patterns = [r"runtime/", r"runtime/test_missing\.py", r"project/test_tiers\.py::test_every_(other|one)\[a"]
    assert unmatched(patterns) == patterns[1:]

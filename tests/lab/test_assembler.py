"""Verdicts on probes in one module must equal the verdicts on single probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warploom.diagnostics import UsageError
from warploom_lab.ptxas.assembler import NO_ANSWER, WHEELS, Assembler, provide
from warploom_lab.ptxas.probe import Probe

# Verdict of the fake assembler on a statement in a module of its own.
VERDICTS = {
    "good;": True,
    "good; good;": True,
    "bad;": False,
    "bad; good;": False,
    "late;": False,  # refused without a line, once everything else is right
    "unreadable;": False,  # ends the reading of the module
    "good; }": False,  # an unbalanced bracket: the next entry is to blame for what it does
    "{ good;": False,
    'text ";': False,
    "broken;": True,  # an internal error, unless optimised
    "crash;": False,
    "poison;": False,  # refused, and so is what stands after it
}


@dataclass(frozen=True, slots=True)
class Fake(Assembler):
    """Assembler of the statements above with messages in the form of ptxas."""

    def run(self, text: str, target: str, options: Sequence[str] = ("-O0",)) -> tuple[int, str]:
        messages: list[str] = []
        depth = 0
        poisoned = False
        for number, line in enumerate(text.splitlines(), 1):
            if "crash" in line:
                return -11, "\n".join(messages)
            if "unreadable" in line or '"' in line or (".entry" in line and depth):
                messages.append(f"ptxas /tmp/x, line {number}; fatal   : Parsing error near 'x': syntax error")
                return 255, "\n".join([*messages, "ptxas fatal   : Ptx assembly aborted due to errors"])
            depth += line.count("{") - line.count("}")
            if depth < 0:
                messages.append(f"ptxas /tmp/x, line {number}; fatal   : Parsing error near '}}': syntax error")
                return 255, "\n".join(messages)
            if line.startswith("bad"):
                messages.append(f"ptxas /tmp/x, line {number}; error   : Unknown modifier")
            elif line.startswith("poison") or (poisoned and line.startswith("good")):
                messages.append(f"ptxas /tmp/x, line {number}; error   : Illegal modifier for instruction 'poison'")
            if ".entry" not in line and line != "ret; }":
                poisoned = line.startswith("poison")
        if depth:
            return 255, f"ptxas /tmp/x, line {number}; fatal   : Parsing error near '': syntax error"
        if messages:
            return 255, "\n".join([*messages, "ptxas fatal   : Ptx assembly aborted due to errors"])
        if "late;" in text:
            return 255, "ptxas fatal   : something is wrong somewhere"
        if "broken;" in text and "-O0" in options:
            return 255, "ptxas fatal   : (C7907) Internal compiler error."
        return 0, ""


FAKE = Fake(Path("ptxas"), "0.0.0")


@given(st.lists(st.sampled_from(sorted(VERDICTS)), max_size=12))
def test_a_batch_gives_the_verdicts_of_single_probes(statements: list[str]) -> None:
    verdicts = FAKE.judge([Probe(text) for text in statements], "sm_90a", (9, 1))
    assert [verdict.ok for verdict in verdicts] == [VERDICTS[text] for text in statements]


def test_a_crash_gives_no_verdict() -> None:
    assert [verdict.message for verdict in FAKE.judge([Probe("good;"), Probe("crash;")], "sm_90a", (9, 1))] == [
        "",
        NO_ANSWER,
    ]


def test_a_path_without_an_assembler_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not an executable ptxas"):
        provide(str(tmp_path / "ptxas"))


def test_a_failed_installation_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_CACHE", str(tmp_path))
    monkeypatch.setitem(WHEELS, "0.0", "./there-is-no-such-wheel.whl")
    with pytest.raises(UsageError, match="cannot install"):
        provide("0.0")

"""What comes of a task, as plain data: JSON gives back the same, and nothing else is taken for it."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest
from warploom_lab.campaign import Difference
from warploom_lab.campaign import Outcome as Experimented
from warploom_lab.campaign.small import Disagreement
from warploom_lab.campaign.tensor_cases import tensor_cases
from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome
from warploom_lab.gemm import Outcome, Way, cases
from warploom_lab.nvcc.compiler import Answer as Said
from warploom_lab.plain import of_plain, plain
from warploom_lab.ptxas.assembler import Verdict

from warploom.kernels.hopper.plan import Tile

LEFT = Answer("done", (0, 3), np.arange(6, dtype=np.uint8).reshape(2, 3), np.zeros(0, np.uint8), "words")
RESULTS: list[tuple[Any, Any]] = [
    (Experimented, Experimented("mma.half", "m", 4, 8, 1, Difference(1, "raw", "d", 2, 3, 4, 5, 32))),
    (Experimented, Experimented("mma.half", "m", 4, 8, 0, failure="no")),
    (Disagreement | None, Disagreement("warp/vote", "lazy", "a word differs")),
    (Disagreement | None, None),
    (tuple[str, str] | None, ("done", "")),
    (list[Said], [Said("x;"), Said("", ("no", "never"))]),
    (list[Verdict], []),
    *(
        (TensorOutcome, TensorOutcome(case, LEFT, Answer("trapped"), 2**64 - 1, False))
        for case in tensor_cases(40, 1)
    ),
    *((Outcome, Outcome(case, 0.1, True, Way(Tile(), 3, 1), "a", "b")) for case in cases(1, 40)),
    (Outcome, Outcome(next(cases(1, 1)), float("inf"), wrong="far")),
]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(("kind", "value"), RESULTS)
def test_json_gives_back_the_same(kind: Any, value: Any) -> None:
    assert same(of_plain(kind, json.loads(json.dumps(plain(value)))), value)


ARRAY = plain(LEFT)["shared"]


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (int, True),
        (int, "1"),
        (Verdict, {"ok": 1, "message": ""}),
        (Verdict, {"ok": True}),
        (Verdict, {"ok": True, "message": "", "more": 1}),
        (Verdict, [True, ""]),
        (list[Said], {}),
        (tuple[str, str], ["one"]),
        (Answer, {**plain(LEFT), "shared": {**ARRAY, "dtype": "O"}}),
        (Answer, {**plain(LEFT), "shared": {**ARRAY, "dtype": "|S3"}}),
        (Answer, {**plain(LEFT), "shared": {**ARRAY, "shape": [2, 4]}}),
        (Answer, {**plain(LEFT), "shared": {**ARRAY, "bytes": "?"}}),
        (Answer, {**plain(LEFT), "steps": [0, "3"]}),
    ],
)
def test_what_says_no_such_thing_is_refused(kind: Any, data: Any) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        of_plain(kind, data)


def test_a_word_is_one_of_those_there_are() -> None:
    case = next(iter(tensor_cases(1, 1)))
    assert of_plain(type(case), plain(case)) == case
    with pytest.raises(ValueError, match="found 'jump'"):
        of_plain(type(case), plain(replace(case, action="jump")))  # type: ignore[arg-type]

"""JSON data of results: decoding restores the value and refuses other data."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from warploom.kernels.hopper.plan import Tile
from warploom_lab import attention
from warploom_lab.attention import Outcome as Attended
from warploom_lab.campaign import Difference
from warploom_lab.campaign import Outcome as Experimented
from warploom_lab.campaign.small_kernels import Mismatch
from warploom_lab.campaign.tensor_cases import tensor_cases
from warploom_lab.campaign.tensor_copy import Answer, TensorOutcome
from warploom_lab.gemm import Outcome, Partition, cases
from warploom_lab.json_data import decode, encode
from warploom_lab.nvcc.compiler import Answer as Said
from warploom_lab.ptxas.assembler import Verdict

LEFT = Answer("done", (0, 3), np.arange(6, dtype=np.uint8).reshape(2, 3), np.zeros(0, np.uint8), "words")
RESULTS: list[tuple[Any, Any]] = [
    (Experimented, Experimented("mma.half", "m", 4, 8, 1, Difference(1, "raw", "d", 2, 3, 4, 5, 32))),
    (Experimented, Experimented("mma.half", "m", 4, 8, 0, failure="no")),
    (Mismatch | None, Mismatch("warp/vote", "lazy", "a word differs")),
    (Mismatch | None, None),
    (tuple[str, str] | None, ("done", "")),
    (list[Said], [Said("x;"), Said("", ("no", "never"))]),
    (list[Verdict], []),
    *((TensorOutcome, TensorOutcome(case, LEFT, Answer("trapped"), 2**64 - 1, False)) for case in tensor_cases(40, 1)),
    *((Outcome, Outcome(case, 0.1, True, "a", "b", partition=Partition(Tile(), 3, 1))) for case in cases(1, 40)),
    (Outcome, Outcome(next(cases(1, 1)), float("inf"), wrong="far")),
    *((Attended, Attended(case, 0.1, True, "a", "b")) for case in attention.cases(1, 40)),
]


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(("kind", "value"), RESULTS)
def test_decoding_restores_the_value(kind: Any, value: Any) -> None:
    assert same(decode(kind, json.loads(json.dumps(encode(value)))), value)


ARRAY = encode(LEFT)["shared"]


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
        (Answer, {**encode(LEFT), "shared": {**ARRAY, "dtype": "O"}}),
        (Answer, {**encode(LEFT), "shared": {**ARRAY, "dtype": "|S3"}}),
        (Answer, {**encode(LEFT), "shared": {**ARRAY, "shape": [2, 4]}}),
        (Answer, {**encode(LEFT), "shared": {**ARRAY, "bytes": "?"}}),
        (Answer, {**encode(LEFT), "steps": [0, "3"]}),
    ],
)
def test_other_data_is_refused(kind: Any, data: Any) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        decode(kind, data)


def test_an_unknown_literal_is_refused() -> None:
    case = next(iter(tensor_cases(1, 1)))
    assert decode(type(case), encode(case)) == case
    with pytest.raises(ValueError, match="found 'jump'"):
        decode(type(case), encode(replace(case, action="jump")))  # type: ignore[arg-type]

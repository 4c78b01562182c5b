"""Attention kernels: near the exact result for all options, the same bits under every schedule, legal and silent."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from kernels.attention_check import run

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.isa.model.capacity import SHARED_KIB
from warploom.kernels.ampere.attention import kernel_of
from warploom.kernels.ampere.attention_plan import plan_for
from warploom.kernels.attention_api import plan_attention
from warploom.kernels.attention_problem import AttentionOperands
from warploom.kernels.hopper.attention_dispatch import HopperDecode
from warploom_lab.attention import Case, cases
from warploom_lab.attention.inputs import make_inputs

HOPPER = "sm_90a"
WITH_MMA = ("sm_80", "sm_89", "sm_100a", "sm_120")
BOTH = ("sm_80", HOPPER)
ONES = (1.0, 1.0, 1.0)
MASKS = dict.fromkeys(("right", "left", "packed", "lengths", "lse"), False)
RANDOM = [
    one
    for one in cases(3, 200)
    if one.work < 4_000_000 and not one.gradients and one.type != "e4m3" and max(one.keys) > 8
][:8]


def check(case: Case, target: str, schedule: str = "eager") -> dict[str, Any]:
    return run(replace(case, target=target, multiprocessors=2), schedule)


def operands_of(case: Case) -> AttentionOperands:
    made = make_inputs(case)
    return made.operands._replace(out=made.results["o"].array, lse=made.results["lse"].array)


# Results ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "target"), [(index, each) for index in range(8) for each in (HOPPER, WITH_MMA[index % len(WITH_MMA)])]
)
def test_a_random_problem_is_near_float64_and_silent(index, target):
    check(RANDOM[index], target, ("eager", "lazy", "random:5")[index % 3])


@pytest.mark.parametrize("target", [*BOTH, "sm_89"])
@pytest.mark.parametrize("heads", [(256, 256), (192, 128)], ids=str)
def test_wide_heads(heads, target):
    check(Case("f16", *heads, tokens=(20,), keys=(90,), right=0), target)


@pytest.mark.parametrize("target", BOTH)
def test_values_wider_than_keys(target):
    # O takes the place of Q in shared memory, and the next tile's Q is copied beside it.
    check(Case("f16", 64, 128, heads=4, tokens=(20,), keys=(90,)), target)


@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize(("left", "right"), [(60, 5), (None, 0), (60, None)])
def test_blocks_are_skipped_and_masked(left, right, target):
    check(Case(tokens=(70,), keys=(290,), left=left, right=right), target)


@pytest.mark.parametrize("target", BOTH)
def test_rows_before_the_first_key_are_zero(target):
    results = check(Case(tokens=(70,), keys=(20,), right=0), target)
    assert (results["o"][:, :50] == 0).all()
    assert np.isneginf(results["lse"][..., :50]).all()


@pytest.mark.parametrize("target", BOTH)
def test_pages_of_a_cache(target):
    check(Case(heads=4, heads_kv=2, tokens=(2, 2), keys=(90, 33), page=16, right=0), target)


@pytest.mark.parametrize(("tokens", "keys"), [((3, 3), (90, 20)), ((1, 4), (5, 70))], ids=["padded", "packed"])
def test_few_tokens_of_all_heads_share_a_tile(tokens, keys):
    case = Case(heads=6, heads_kv=2, tokens=tokens, keys=keys, packed=tokens[0] == 1, right=0, left=30)
    made = plan_attention(operands_of(case), (False, (None, None), None, None, True, "sm_80", ONES), "", 108)
    [launch] = made.launches(operands_of(case))
    assert (made.plan.sharing, launch.grid) == (3, 2 * 2)
    check(case, "sm_80")


def test_few_tokens_with_many_keys_are_split_among_ctas_on_hopper():
    case = Case(tokens=(1,), keys=(520,))
    made = plan_attention(operands_of(case), (False, (None, None), None, None, True, HOPPER, ONES), "", 132)
    assert isinstance(made, HopperDecode)
    check(case, HOPPER)


@pytest.mark.parametrize("target", BOTH)
def test_every_schedule_gives_the_same_bits(target):
    case = Case(heads=2, tokens=(70,), keys=(300,), left=200, right=3)
    results = []
    for schedule in ("eager", "lazy", "random:1", "random:2"):
        found = check(case, target, schedule)
        results.append((found["o"].tobytes(), found["lse"].tobytes()))
    assert len(set(results)) == 1


def test_bits_of_a_row_do_not_depend_on_other_rows_with_mma():
    q, k, v, *_ = operands_of(Case(heads=4, heads_kv=2, tokens=(40, 40), keys=(100, 100)))
    words = {"device": "cpu", "target": "sm_80", "causal": True}
    whole = wl.kernels.attention(q, k, v, **words)
    few = wl.kernels.attention(q[1:, -3:], k[1:], v[1:], **words)  # packs heads in a tile
    one = wl.kernels.attention(q[:1, :, 3:], k[:1, :, 1:], v[:1, :, 1:], **words)
    np.testing.assert_array_equal(whole[1:, -3:], few)
    np.testing.assert_array_equal(whole[:1, :, 3:], one)


@pytest.mark.parametrize("target", ["", "sm_80"])
def test_the_call_returns_new_or_given_results(target):
    q, k, v, out, lse, *_ = operands_of(Case("f16", tokens=(5,), keys=(9,)))
    words = {"device": "cpu", "target": target}
    new = wl.kernels.attention(q, k, v, **words)
    both = wl.kernels.attention(q, k, v, **words, return_lse=True, out=out, lse=lse)
    assert both[0] is out
    assert both[1] is lse
    np.testing.assert_array_equal(new, out)
    causal = wl.kernels.attention(q, k, v, **words, causal=True)
    limited = wl.kernels.attention(q, k, v, **words, window=(None, 0))
    np.testing.assert_array_equal(causal, limited)
    assert (causal[:, -1] == new[:, -1]).all()
    assert (causal[:, 0] != new[:, 0]).any()


# Plans --------------------------------------------------------------------------------------------------------------


def test_every_target_has_shared_memory_for_all_heads():
    targets = [number for number in SHARED_KIB if number >= 80]
    for number, head, head_v in product(targets, (8, 64, 128, 192, 256), (64, 128, 256)):
        plans = [
            plan_for("bf16", head, head_v, f"sm_{number}", rows=rows, sharing=1, page=0, **MASKS) for rows in (1, 500)
        ]
        assert max(plan.shared_bytes for plan in plans) <= 1024 * SHARED_KIB[number]
        assert len({plan.keys for plan in plans}) == 1  # the bits depend on the blocks of keys


@pytest.mark.parametrize("target", ["sm_80", "sm_86", "sm_100a", "sm_120"])
def test_kernels_are_legal(target):
    options = {"right": True, "left": True, "packed": True, "lengths": False, "lse": True}
    plan = plan_for("f16", 136, 72, target, rows=100, sharing=4, page=0, **options)
    made = kernel_of(plan)
    assert wl.check(made.text).ok
    assert made.shared == plan.shared_bytes
    assert f".target {target}" in made.text


# Mistakes -----------------------------------------------------------------------------------------------------------

Q, K = np.zeros((1, 4, 2, 64), np.float16), np.zeros((1, 8, 1, 64), np.float16)
ENDS = np.array([2, 4], np.int32)
MISTAKES = {
    "q has shape (4, 2, 64); expected (batch, tokens, heads, head size)": {"q": Q[0]},
    "q is [1.0]; expected an array": {"q": [1.0]},
    "the types are q float16, k float16, v float32": {"v": K.astype(np.float32)},
    "Q has 3 heads and K has 2": {"q": np.zeros((1, 4, 3, 64), np.float16), "k": Q, "v": Q},
    "the head sizes are 12 and 64; expected multiples of 8": {"q": Q[..., :12], "k": K[..., :12]},
    "expected one batch, K and V with the same tokens and heads": {"v": K[:, :5]},
    "only one of q_ends and k_ends is given": {"q_ends": ENDS},
    "k_lengths has other numbers than those from 0 to 8": {"k_lengths": np.array([9], np.int32)},
    "k_ends has other numbers than those that ascend from 0 to at most 8": {
        "q": Q[0], "k": K[0], "v": K[0], "q_ends": ENDS, "k_ends": ENDS[::-1].copy()
    },
    "table is given without k_lengths": {"table": np.zeros((1, 1), np.int32)},
    "window is 3; expected a pair": {"window": 3},
    "left is -1; expected an integer": {"window": (-1, 0)},
    "most_rows is 'x'; expected an integer": {"most_rows": "x"},
    "scale is 0; expected a finite number above 0": {"scale": 0},
    "scale is 'x'; expected a finite number above 0": {"scale": "x"},
    "out": {"out": np.zeros((1, 4, 2, 8), np.float16)},
    "lse": {"lse": np.zeros((1, 2, 4), np.float16)},
}  # fmt: skip


@pytest.mark.parametrize("target", BOTH)
@pytest.mark.parametrize("sentence", MISTAKES)
def test_a_mistake_is_named(sentence, target):
    arguments = {"q": Q, "k": K, "v": K} | MISTAKES[sentence]
    with pytest.raises(UsageError) as caught:
        wl.kernels.attention(**arguments, device="cpu", target=target)
    assert sentence in str(caught.value)
    assert caught.value.diagnostics[0].code.startswith("kernels.")


@pytest.mark.parametrize(
    ("target", "sentence"),
    [("sm_75", "no attention kernel for sm_75; expected one of sm_80"), ("x", "unknown target"), (5, "target is 5")],
)
def test_a_wrong_target_is_named(target, sentence):
    with pytest.raises(UsageError, match=sentence):
        wl.kernels.attention(Q, K, K, device="cpu", target=target)

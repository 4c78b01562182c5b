"""Warp-level GEMM kernels: right for every type and layout, silent under every schedule, legal, and chosen sensibly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from kernels.operand_types import OPERANDS

import warploom as wl
from warploom.diagnostics import UsageError
from warploom.emulator.memory import Memory
from warploom.kernels.ampere.gemm import kernel_of
from warploom.kernels.ampere.plan import TILES, WarpPlan, WarpTile, choose_tile, plan_for
from warploom.kernels.plan import Epilogue, size_of
from warploom.kernels.problem import Problem, problem_of, transposed

DTYPES = OPERANDS | {"f32": np.float32, "s32": np.int32}
SMALL = WarpTile(64, 64, 2, 2, stages=3)
EVERYTHING = Epilogue(True, True, True, "bf16", "column", "silu")
ERRORS = {"f32": 2e-6, "bf16": 2.0**-8, "f16": 2.0**-10, "e4m3": 2.0**-4, "e5m2": 2.0**-3, "s32": 0}
KINDS = [
    ("bf16", "bf16", "f32", "bf16", "sm_80"),
    ("f16", "f16", "f32", "f32", "sm_80"),
    ("f16", "f16", "f16", "f16", "sm_80"),
    ("tf32", "tf32", "f32", "f32", "sm_80"),
    ("s8", "u8", "s32", "s32", "sm_80"),
    ("u8", "s8", "s32", "f16", "sm_80"),
    ("e4m3", "e5m2", "f32", "bf16", "sm_89"),
    ("e5m2", "e5m2", "f32", "e4m3", "sm_89"),
]


def stored(rng: np.random.Generator, word: str, *shape: int) -> np.ndarray:
    """Random numbers whose rows begin every 16 bytes; what is between the rows must not be read."""
    whole = (*shape[:-1], -(-shape[-1] * size_of(word) // 16) * 16 // size_of(word))
    if word in ("s8", "u8", "s32"):
        made = rng.integers(0 if word == "u8" else -9, 10, whole).astype(DTYPES[word])
    else:
        made = rng.standard_normal(whole).astype(DTYPES[word])
        if word == "tf32":
            made = (made.view(np.uint32) & 0xFFFFE000).view(np.float32)
        made[..., shape[-1] :] = np.nan
    return made[..., : shape[-1]]


def whole(array: np.ndarray) -> np.ndarray:
    return array if array.base is None else array.base


def multiply(plan: WarpPlan, m: int, n: int, k: int, batch: int = 1, schedule: str = "eager"):
    """What the kernel of a plan makes of random matrices, what is exact, and the findings of the sanitizer."""
    rng = np.random.default_rng(m + n + k)
    a = stored(rng, plan.a, batch, *((m, k) if plan.a_major == "k" else (k, m)))
    b = stored(rng, plan.b, batch, *((n, k) if plan.b_major == "k" else (k, n)))
    d, epilogue = stored(rng, plan.d, batch, m, n), plan.epilogue
    c = stored(rng, epilogue.addend, batch, m, n) if epilogue.addend else d
    ragged = any(n * each.itemsize % 16 for each in (c, d))
    whole(d)[...] = 5
    rows, columns = rng.standard_normal(m, np.float32), rng.standard_normal(n, np.float32)
    bias = rng.standard_normal(m if epilogue.bias == "row" else n, np.float32)
    made = kernel_of(replace(plan, unaligned=ragged))
    strides = [each.strides[axis] for axis in (1, 0) for each in (a, b, c, d)]
    run = wl.launch(
        made.module,
        grid=plan.tile.count(Problem(m, n, k, batch, plan.a, plan.b, "k", "k")),
        block=plan.tile.threads,
        shared=made.shared,
        args=[*map(whole, (a, b, c, d)), rows, columns, bias, 0.5, -2.0, *strides, m, n, k],
        sanitize=True,
        schedule=schedule,
    )
    exact = (a if plan.a_major == "k" else transposed(a)).astype(float) @ (
        transposed(b) if plan.b_major == "k" else b
    ).astype(float)
    exact = exact * (0.5 if epilogue.scaled else 1)
    exact = exact * (rows[:, None] if epilogue.row_scales else 1) * (columns if epilogue.column_scales else 1)
    exact = exact - 2 * c.astype(float) if epilogue.addend else exact
    exact = exact + {"": 0, "row": bias[:, None] if epilogue.bias == "row" else 0, "column": bias}[epilogue.bias]
    match epilogue.activation:
        case "relu":
            exact = np.maximum(exact, 0)
        case "silu":
            exact = exact / (1 + np.exp(-exact))
        case "gelu":
            exact = exact * (0.5 + 0.5 * np.tanh(0.7978845608028654 * (exact + 0.044715 * exact**3)))
    assert (whole(d)[..., n:] == 5).all()  # nothing is stored between the rows
    return d.astype(float), exact, run.findings


def is_near(found: np.ndarray, exact: np.ndarray, error: float) -> bool:
    return bool(np.linalg.norm(found - exact) <= error * np.linalg.norm(exact))


@pytest.mark.parametrize("kind", KINDS, ids=" ".join)
def test_every_type_is_right_and_silent(kind):
    *types, target = kind
    a, _, sums, d = types
    plan = WarpPlan(*types, tile=SMALL, target=target)
    found, exact, findings = multiply(plan, 70, 80, 192 // size_of(a) + 5)
    assert not findings
    assert is_near(found, exact, 2.0**-9 if sums == "f16" else ERRORS[d])


@pytest.mark.parametrize(("majors", "span"), [("kk", 64), ("kn", 64), ("mk", 64), ("kk", 128), ("mn", 128)])
def test_every_layout_is_right_and_silent_with_odd_sizes_and_late_copies(majors, span):
    plan = WarpPlan(a_major=majors[0], b_major=majors[1], tile=replace(SMALL, span=span))
    found, exact, findings = multiply(plan, 67, 133, 141, batch=2, schedule="lazy")
    assert not findings
    assert is_near(found, exact, ERRORS["bf16"])


@pytest.mark.parametrize("tile", TILES, ids=lambda tile: f"{tile.rows}x{tile.columns}")
def test_every_tile_is_right_and_silent_in_any_order(tile):
    found, exact, findings = multiply(WarpPlan(tile=tile, d="f32"), 136, 72, 200, schedule="random:7")
    assert not findings
    assert is_near(found, exact, ERRORS["f32"])


@pytest.mark.parametrize(("d", "n"), [("f32", 72), ("f32", 69), ("bf16", 72), ("e4m3", 80), ("e4m3", 69)])
def test_the_epilogue_is_right(d, n):
    plan = WarpPlan(target="sm_89", d=d, tile=SMALL, epilogue=replace(EVERYTHING, addend=d))
    found, exact, findings = multiply(plan, 66, n, 40)
    assert not findings
    assert is_near(found, exact, ERRORS[d])


@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_bias_of_rows_and_other_activations_are_right(activation):
    plan = WarpPlan("f16", "f16", "f16", "f16", tile=SMALL, epilogue=Epilogue(bias="row", activation=activation))
    found, exact, findings = multiply(plan, 66, 69, 40)
    assert not findings
    assert is_near(found, exact, 2e-3)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (65, 3, 9)])
def test_the_smallest_sizes_are_right(sizes):
    found, exact, findings = multiply(WarpPlan(tile=SMALL, d="f32"), *sizes)
    assert not findings
    assert is_near(found, exact, ERRORS["f32"])


@pytest.mark.parametrize("kind", KINDS[::3], ids=" ".join)
def test_kernels_are_legal(kind):
    *types, target = kind
    epilogue = replace(EVERYTHING, addend="f32")
    plan = WarpPlan(*types, unaligned=True, tile=SMALL, epilogue=epilogue, target=target)
    assert wl.check(kernel_of(plan).text).ok


def rounds(addresses: np.ndarray, size: int) -> np.ndarray:
    """How often each group of lanes that shared memory serves at once must be served, 128 bytes at a time."""
    lanes = {16: 8, 8: 16}.get(size, 32)
    words = (addresses.reshape(-1, lanes, 1) + np.arange(0, max(size, 4), 4, addresses.dtype)) // 4
    words = words.reshape(len(words), -1)
    banks = np.zeros((len(words), 32), int)
    for group, held in enumerate(words):
        banks[group] = np.bincount(np.unique(held) % 32, minlength=32)
    return banks.max(axis=1)


@pytest.mark.parametrize(
    ("majors", "span", "d"), [("kk", 64, "f32"), ("kk", 128, "e4m3"), ("mn", 64, "bf16"), ("mn", 128, "f16")]
)
def test_no_two_lanes_meet_in_a_bank(majors, span, d, monkeypatch):
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")  # native code accesses memory without these methods
    seen: list[np.ndarray] = []

    def watched(kind: str):
        before = getattr(Memory, kind)

        def access(self, space, place, addresses, mask, *rest):
            if space == "shared" and mask.all():
                size = rest[0].dtype.itemsize * len(rest[0]) if kind == "store" else rest[0].itemsize * rest[1]
                seen.append(rounds(np.broadcast_to(addresses, mask.shape), size))
            return before(self, space, place, addresses, mask, *rest)

        monkeypatch.setattr(Memory, kind, access)

    watched("load")
    watched("store")
    plan = WarpPlan(target="sm_89", d=d, a_major=majors[0], b_major=majors[1], tile=WarpTile(128, 64, 2, 2, span, 3))
    multiply(replace(plan, a="f16", b="f16") if d == "f16" else plan, 128, 64, 64)
    assert sum(map(len, seen)) > 1000
    assert all((each == 1).all() for each in seen)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"target": "sm_75"}, "sm_75 has no asynchronous copies; expected sm_80 or above"),
        ({"a": "e4m3", "b": "e4m3"}, "sm_80 has no e4m3; expected sm_89 or above"),
        ({"a": "s8", "b": "s8", "accumulator": "s32", "d": "s32", "a_major": "m"},
         "A has elements of s8 and is not contiguous along K; only elements of 16 bits may be"),
        ({"a_major": "n"}, "a_major is 'n'; expected 'k' or 'm'"),
        ({"a": "s8", "b": "s8", "accumulator": "s32", "d": "s32", "epilogue": Epilogue(scaled=True)},
         "an s32 result has no epilogue; expected a result in f32, bf16 or f16"),
        ({"target": "sm_89", "tile": WarpTile(128, 256, 2, 4, stages=5)},
         "5 stages have 122880 bytes; expected at most 101376 bytes on sm_89"),
        ({"tile": WarpTile(stages=2)}, "the tile has 2 stages; expected 3, 4 or 5"),
        ({"tile": WarpTile(span=32)}, "a stage has 32 bytes of K; expected 64 or 128"),
        (
            {"tile": WarpTile(96)},
            "the tile has 96 rows for 2 warps; expected 64, 128 or 256, and 32 or 64 per warp",
        ),
        ({"tile": WarpTile(down=1, across=1)}, "the tile has 1 by 1 warps; expected 4 or 8 warps"),
    ],
)  # fmt: skip
def test_what_there_is_not_is_refused(wrong, message):
    with pytest.raises(UsageError) as refused:
        WarpPlan(**wrong)
    assert str(refused.value) == message


def test_a_problem_gives_a_plan():
    a, b = np.zeros((300, 112), np.int8), np.zeros((77, 112), np.int8)
    plan = plan_for(problem_of(a, transposed(b)), "sm_80", epilogue=Epilogue())
    assert (plan.a, plan.b, plan.accumulator, plan.d, plan.a_major, plan.b_major) == (
        "s8",
        "s8",
        "s32",
        "s32",
        "k",
        "k",
    )
    assert plan.unaligned
    a, b = np.zeros((3, 64, 304), np.float16), np.zeros((64, 80), np.float16)
    problem = problem_of(transposed(a[..., :300]), b)
    plan = plan_for(problem, "sm_89", accumulator="f16", epilogue=Epilogue(), tile=SMALL)
    assert (plan.target, plan.accumulator, plan.d, plan.a_major, plan.b_major) == ("sm_89", "f16", "f16", "m", "n")
    assert not plan.unaligned
    assert plan.tile == SMALL


@pytest.mark.parametrize(
    ("m", "n", "extents"), [(4096, 4096, (128, 256)), (128, 7168, (128, 128)), (64, 24576, (64, 64)), (1, 1, (64, 64))]
)
def test_the_tile_suits_the_problem(m, n, extents):
    tile = choose_tile(Problem(m, n, 64, 1, "bf16", "bf16", "k", "k"), 108, 163 * 1024)
    assert (tile.rows, tile.columns) == extents


def test_rows_that_are_too_long_are_refused():
    problem = Problem(1, 1, 2**30, 1, "bf16", "bf16", "k", "k")
    with pytest.raises(UsageError, match="a row along K has 2147483648 bytes; expected at most 2147483392"):
        plan_for(problem, "sm_80", epilogue=Epilogue())


def test_a_tile_is_chosen_that_the_target_has_room_for():
    assert choose_tile(Problem(4096, 4096, 64, 1, "bf16", "bf16", "k", "k"), 108, 64 * 1024).shared_bytes <= 64 * 1024

"""Multiplications that workers share: done together, they leave what they leave one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emulator.texts import HEADER
from hypothesis import given, settings
from hypothesis import strategies as st

import warploom as wl
from warploom.emulator.link import Linker

REGISTERS = 8
pairs = st.integers(0, REGISTERS - 2).map(lambda first: f"{{%x{first}, %x{first + 1}}}")
singles = st.integers(0, REGISTERS - 1).map(lambda register: f"{{%x{register}}}")
multiplications = st.builds(
    lambda guard, d, a, b, c: f"{guard} mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {d}, {a}, {b}, {c};",
    st.sampled_from(["", "", "", "@%p0"]),
    pairs,
    pairs,
    singles,
    pairs,
)


def registers_after(statements: list[str], workers: int, schedule: str = "eager") -> np.ndarray[Any, Any]:
    """All registers of two warps after some statements."""
    moves = [(f"%x{k}", f"[%rd1+{256 * k}]") for k in range(REGISTERS)]
    text = "\n".join(
        [
            HEADER,
            ".visible .entry k(.param .u64 p) {",
            f".reg .b32 %x<{REGISTERS}>, %r<2>; .reg .b64 %rd<3>; .reg .pred %p<1>;",
            "ld.param.u64 %rd0, [p]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd1, %rd0;",
            "setp.lt.u32 %p0, %r0, 32;",
            *(f"ld.global.b32 {register}, {place};" for register, place in moves),
            *statements,
            *(f"st.global.b32 {place}, {register};" for register, place in moves),
            "ret; }",
        ]
    )
    values = np.random.default_rng(5).standard_normal(REGISTERS * 64 * 2).astype(np.float16).view(np.uint32)
    data = values.reshape(REGISTERS, 64).copy()
    wl.launch(text, grid=1, block=64, args=[data], workers=workers, schedule=schedule)
    return data


@given(st.lists(multiplications, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_any_sequence_leaves_the_same(statements: list[str]) -> None:
    alone = registers_after(statements, 1)
    np.testing.assert_array_equal(registers_after(statements, 2), alone)
    np.testing.assert_array_equal(registers_after(statements, 2, "random:3"), alone)


@given(st.lists(multiplications, min_size=1, max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_run_leaves_what_single_multiplications_leave(statements: list[str]) -> None:
    np.testing.assert_array_equal(registers_after(statements, 1), registers_after(apart(statements), 1))


def test_a_multiplication_may_overwrite_an_operand_of_an_earlier_one() -> None:
    opcode = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"
    statements = [
        f"{opcode} {{%x5, %x6}}, {{%x0, %x1}}, {{%x4}}, {{%x0, %x1}};",
        f"{opcode} {{%x7, %x2}}, {{%x2, %x3}}, {{%x4}}, {{%x0, %x1}};",
        f"{opcode} {{%x3, %x1}}, {{%x0, %x1}}, {{%x4}}, {{%x0, %x1}};",
    ]
    np.testing.assert_array_equal(registers_after(statements, 1), registers_after(apart(statements), 1))


def apart(statements: list[str]) -> list[str]:
    """The statements with another instruction behind each of them, so that there are no runs."""
    return [f"{each} mov.u32 %r1, %r0;" for each in statements]


def test_a_run_ends_where_something_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    find = Linker.find_runs

    def seen(linker: Linker, linked: list[Any]) -> None:
        find(linker, linked)
        found.extend(len(step.run) for step in linked if step.run)

    monkeypatch.setattr(Linker, "find_runs", seen)
    opcode = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"
    registers_after(
        [
            f"{opcode} {{%x0, %x1}}, {{%x4, %x5}}, {{%x6}}, {{%x0, %x1}};",
            f"{opcode} {{%x2, %x3}}, {{%x4, %x5}}, {{%x7}}, {{%x2, %x3}};",
            f"{opcode} {{%x4, %x5}}, {{%x6, %x7}}, {{%x6}}, {{%x6, %x7}};",
            f"{opcode} {{%x6, %x7}}, {{%x0, %x1}}, {{%x6}}, {{%x6, %x7}};",
            f"@%p0 {opcode} {{%x0, %x1}}, {{%x4, %x5}}, {{%x6}}, {{%x0, %x1}};",
        ],
        2,
    )
    assert found == [3, 1]

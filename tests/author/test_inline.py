"""PTX inside of a kernel, and around it."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl
from warploom.author import AuthorError, Program, declare, f32, guarded, kernel, new, pointer, ptx, special, u32


@kernel
def mixed(x: pointer(u32), y: pointer(f32), *, step: int = 3):
    table = declare(".global .align 4 .u32 table[4] = {10, 20, 30, 40};")
    twice = declare(".func (.reg .u32 r) twice(.reg .u32 a) { shl.b32 r, a, 1; ret; }")
    t = special("tid.x")
    found, doubled = new(u32), new(u32)
    for number in range(2):  # twice in one kernel: registers and labels are each text's own
        ptx.inline(
            """
            .reg .pred below;
            setp.lt.u32 below, {t}, {limit};
            @!below bra past;
            ld.global.u32 {found}, {place};
            past:
            @{odd} add.u32 {found}, {found}, {step};
            """,
            t=t,
            limit=32,
            found=found,
            place=table + 4 * number,
            odd=(t & 1) == 1,
            step=step,
        )
    ptx.inline(f"call ({{doubled}}), {twice}, ({{found}});", doubled=doubled, found=found)
    x[t] = doubled
    pair = [new(f32), new(f32)]
    ptx.inline("ld.global.v2.f32 {pair}, [{y}+8];", pair=pair, y=y)
    ptx.inline("@!{first} st.global.v2.f32 [{y}], {pair};", first=t != 0, y=y, pair=pair)


def test_inline_ptx_runs():
    assert not list(wl.check(mixed.text))
    x, y = np.zeros(32, np.uint32), np.arange(4, dtype=np.float32)
    wl.launch(mixed.module, grid=1, block=32, args=[x, y])
    assert x.tolist() == [2 * (20 + 3 * (t % 2)) for t in range(32)]
    assert y.tolist() == [2, 3, 2, 3]


def test_its_lines_are_the_python_lines():
    lines = mixed.text.splitlines()
    call = next(k for k, line in enumerate(lines) if line.strip().startswith("call "))
    assert "// test_inline.py:" in lines[call - 1]


def test_static_shared_memory_is_the_kernels():
    @kernel
    def made(x: pointer(u32)):
        ptx.inline(".shared .align 4 .u32 one;")
        ptx.inline("st.shared.u32 [one], {seven};", seven=7)
        value = new(u32)
        ptx.inline("ld.shared.u32 {value}, [one];", value=value)
        x[0] = value

    x = np.zeros(1, np.uint32)
    wl.launch(made.module, grid=1, block=1, args=[x])
    assert x[0] == 7


def test_a_guarded_block_takes_no_inline_ptx():
    @kernel
    def made(x: pointer(u32)):
        with guarded(special("tid.x") == 0):
            ptx.inline("st.global.u32 [{x}], 1;", x=x)

    with pytest.raises(AuthorError, match="inline PTX is not allowed in a guarded block"):
        made.text  # noqa: B018


def test_a_program_shares_what_it_declares():
    program = Program(target="sm_80")
    program.declare(".global .align 4 .u32 total;")

    @program.kernel
    def put(x: pointer(u32)):
        ptx.inline("st.global.u32 [total], {x};", x=x[0])

    @program.kernel(name="take")
    def get(x: pointer(u32)):
        value = new(u32)
        ptx.inline("ld.global.u32 {value}, [total];", value=value)
        x[1] = value + 1

    assert list(program.module.functions) == ["put", "take"]
    assert not list(wl.check(program.text))
    with pytest.raises(AuthorError, match="'total' is declared twice"):
        program.declare(".global .u32 total;")

"""Every tool on arithmetic of four bytes in a register."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl
from warploom.author import kernel, new, pointer, ptx, u32
from warploom.observe.trace import Kind

BINARY = ("add", "sub", "min", "max")
CALCULATE = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum}


def text(instruction: str) -> str:
    """Return a kernel that stores the result of an instruction with the sources %r1 and %r2 and destination %r3."""
    return f"""
.version 9.2
.target sm_120f
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)
{{
.reg .b32 %r<4>; .reg .b64 %rd<7>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %rd0, %r0, 4;
add.u64 %rd4, %rd1, %rd0;
add.u64 %rd5, %rd2, %rd0;
add.u64 %rd6, %rd3, %rd0;
ld.global.b32 %r1, [%rd4];
ld.global.b32 %r2, [%rd5];
{instruction}
st.global.b32 [%rd6], %r3;
ret;
}}
"""


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:1"])
@pytest.mark.parametrize("type", ["u8x4", "s8x4"])
@pytest.mark.parametrize("op", BINARY)
def test_bytes_are_calculated_apart(op: str, type: str, schedule: str) -> None:
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 256, 128, dtype=np.uint8).view(type[:1].replace("s", "i") + "1") for _ in "ab")
    words = [a.view(np.uint32), b.view(np.uint32), np.zeros(32, np.uint32)]
    kernel_text = text(f"{op}.{type} %r3, %r1, %r2;")
    run = wl.launch(kernel_text, grid=1, block=32, args=words, schedule=schedule, sanitize=True, trace=True)
    assert (words[2].view(a.dtype) == CALCULATE[op](a, b)).all()
    assert [str(each) for each in run.findings or ()] == []
    assert run.trace is not None
    assert {int(each["kind"]) for each in run.trace.events} == {int(Kind.RUN)}


@pytest.mark.parametrize("op", [*BINARY, "neg"])
def test_it_needs_ptx_9_2_and_a_family_target(op: str) -> None:
    sources = "%r1" if op == "neg" else "%r1, %r2"
    legal = text(f"{op}.s8x4 %r3, {sources};")
    form = "integer.quad_neg" if op == "neg" else "integer.quad"
    assert str(wl.parse(legal)) == legal
    assert wl.check(legal).ok
    assert wl.check(legal, target="sm_121a").ok
    assert {each.code for each in wl.check(legal.replace("9.2", "9.1"))} == {f"{form}/ptx"}
    for target in ("sm_90a", "sm_100f", "sm_120"):
        assert {each.code for each in wl.check(legal, target=target)} == {f"{form}/target"}


def test_operands_are_registers_of_32_bits() -> None:
    for sources in ("%r1, 5", "%rd1, %r2", "%r1, 1.0"):
        codes = {each.code for each in wl.check(text(f"add.u8x4 %r3, {sources};"))}
        assert codes
        assert codes <= {"integer.quad/a", "integer.quad/b"}


def test_calls_write_the_instructions() -> None:
    @kernel(target="sm_120f", ptx_version="9.2")
    def made(x: pointer(u32)):
        a, b = new(u32), new(u32)
        ptx.neg(ptx.max(ptx.sub(a, b, type="u8x4"), b, type="s8x4"), type="s8x4")

    for opcode in ("sub.u8x4", "max.s8x4", "neg.s8x4"):
        assert f"{opcode} %r" in made.text
    assert wl.check(made.text).ok


def test_explain_shows_the_availability() -> None:
    assert "sm_120f" in wl.explain("add.u8x4")

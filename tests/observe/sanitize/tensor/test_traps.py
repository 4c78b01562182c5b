"""Traps of tensor memory under the sanitizer: no finding at the same instruction hides the fault."""

from __future__ import annotations

import numpy as np
import pytest

import warploom as wl

START = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out) .reqntid 128 {
.shared .align 8 .b64 bar;
.shared .align 4 .b32 slot;
.reg .b32 %r<64>;
.reg .pred %p<4>;
mov.u32 %r0, %tid.x;
setp.lt.u32 %p1, %r0, 32;
setp.eq.u32 %p0, %r0, 0;
@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
bar.sync 0;
ld.shared.u32 %r7, [slot];
and.b32 %r8, %r0, 96;
shl.b32 %r8, %r8, 16;
add.u32 %r8, %r8, %r7;
"""
END = """
bar.sync 0;
@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r7, 64;
ret;
}
"""


def run(text: str, schedule: str) -> wl.Run:
    """Run a kernel whose body is `text` under the sanitizer."""
    return wl.launch(
        START + text + END, grid=1, block=128, args=[np.zeros(4, np.uint32)], sanitize=True, raises=False,
        schedule=schedule,
    )  # fmt: skip


@pytest.mark.parametrize("schedule", ["eager", "lazy", "random:0"])
@pytest.mark.parametrize(
    ("column", "message"),
    [(500, "columns 500 to 531 of tensor memory; expected lanes"), (40, "uses column 64 of tensor memory, which is")],
)
def test_a_load_outside_the_columns_is_no_read_of_unwritten_words(column: int, message: str, schedule: str) -> None:
    registers = ", ".join(f"%r{number}" for number in range(16, 48))
    text = f"add.u32 %r8, %r8, {column};\ntcgen05.ld.sync.aligned.32x32b.x32.b32 {{{registers}}}, [%r8];\n"
    (found,) = run(text + "tcgen05.wait::ld.sync.aligned;\n", schedule).findings
    assert found.code == "emulator.tensor-memory"
    assert message in found.message


def test_a_finding_at_the_same_instruction_does_not_hide_a_trap() -> None:
    """A shift that begins at an illegal lane also reads words that nothing has written."""
    done = run("add.u32 %r9, %r7, 0x10000;\n@%p0 tcgen05.shift.cta_group::1.down [%r9];\n", "eager")
    (found,) = done.findings
    assert found.code == "sanitize.unwritten/tensor"
    assert done.error is not None
    (note,) = found.notes
    assert "also emulator.tensor-memory: a shift of tensor memory begins at lane 1" in note.message


def test_a_commit_to_an_uninitialised_mbarrier_is_no_copy() -> None:
    text = "mov.u32 %r9, bar;\n@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r9];\n"
    found = run(text, "eager").findings[0]
    assert found.code == "sanitize.mbarrier/uninitialised"
    assert "is not initialised, and a commit arrives there" in found.message

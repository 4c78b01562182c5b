"""Native functions of a long kernel are prepared for the parts that execute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warploom as wl
from warploom.emulator.native.engine import NativeEngine

BLOCKS, LENGTH = 20, 100


def kernel(skip: bool) -> str:
    """Return a kernel that adds 1 in many blocks, or jumps behind these blocks, and then stores the sum."""
    jump = "bra END;" if skip else ""
    block = "add.u32 %sum, %sum, 1;\n" * (LENGTH - 1) + "@%never bra END;\n"
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 y)
{{
    .reg .b64 %address;
    .reg .b32 %sum;
    .reg .pred %never;
    ld.param.u64 %address, [y];
    mov.u32 %sum, 5;
    {jump}
{block * BLOCKS}END:
    st.global.u32 [%address], %sum;
    ret;
}}
"""


def launch(skip: bool) -> tuple[wl.Run, Any]:
    """Run the kernel with one warp, and return the run and the stored sums."""
    y = np.zeros(32, np.uint32)
    return wl.launch(kernel(skip), grid=1, block=32, args=[y]), y


@pytest.mark.parametrize("skip", [True, False])
def test_skipped_pieces_are_not_prepared(skip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLOOM_ENGINE", "auto")
    prepared: list[range] = []
    link: Any = NativeEngine._link  # pyright: ignore[reportPrivateUsage]

    def recorded(engine: NativeEngine, pcs: range) -> None:
        prepared.append(pcs)
        link(engine, pcs)

    monkeypatch.setattr(NativeEngine, "_link", recorded)
    run, y = launch(skip)
    assert y[0] == 5 + (0 if skip else BLOCKS * (LENGTH - 1))
    total = sum(map(len, prepared))
    assert total < BLOCKS * LENGTH / 2 if skip else total == BLOCKS * LENGTH + 4
    monkeypatch.setenv("WARPLOOM_ENGINE", "interpreter")
    expected, _ = launch(skip)
    assert run.stats.instructions == expected.stats.instructions

"""Table of the scenarios, and the generator of their PTX.

`PYTHONPATH=tests python -m debug.scenarios.generate` writes the PTX files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from debug.scenarios.ampere_gemm import ampere_gemm
from debug.scenarios.hopper_gemm import hopper_gemm
from debug.scenarios.softmax import softmax

from warploom.author.kernel import Kernel

FOLDER = Path(__file__).parent
WITH_LINES = {"hopper_gemm"}
"""Kernels whose PTX states the lines in Python.

The PTX of the other kernels has no line information, like PTX that a person wrote.
"""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Kernel with one fault.

    `tiles` are compile-time arguments that the kernel without the fault also has, and `fault` are those that plant the
    fault. `grid` replaces the grid of the launch file in the launch without the fault. `outcome` is "wrong", or the
    name of the exception that the launch raises.
    """

    name: str
    kernel: Kernel
    fault: Mapping[str, Any]
    tiles: Mapping[str, Any] = field(default_factory=dict[str, Any])
    grid: tuple[int, ...] | None = None
    outcome: str = "wrong"
    finding: str = ""

    @property
    def ptx(self) -> str:
        """PTX with the fault."""
        return text_of(self.kernel.at(**self.tiles, **self.fault))

    @property
    def correct_ptx(self) -> str:
        """PTX without the fault."""
        return text_of(self.kernel.at(**self.tiles))


KERNELS = (hopper_gemm, ampere_gemm, softmax)
SCENARIOS = (
    Scenario("wrong_lbo", hopper_gemm, {"leading": 1024}, {"swizzle": 0}, finding="descriptor/overlap"),
    Scenario("wrong_swizzle", hopper_gemm, {"pattern": 64}, finding="descriptor/swizzle"),
    Scenario("transposed_b", ampere_gemm, {"trans": False}),
    Scenario("missing_k_step", hopper_gemm, {"rounds_up": False}),
    Scenario("wrong_parity", hopper_gemm, {"flips": True}, finding="mbarrier/parity"),
    Scenario("early_read", ampere_gemm, {"pending": 2}, finding="cp-async/wait"),
    Scenario("wrong_box", hopper_gemm, {"box_step": 32}),
    Scenario("grid_off_by_one", ampere_gemm, {}, grid=(1, 3)),
    Scenario("wrong_scale", ampere_gemm, {"scalings": 2}),
    Scenario("uninitialised_accumulator", hopper_gemm, {"restarts": False}),
    Scenario("race", softmax, {"synchronizes": False}, finding="race/shared"),
    Scenario("divergent_barrier", softmax, {"converges": False}, outcome="Trap"),
)


def text_of(kernel: Kernel) -> str:
    """Return the PTX of a kernel, whose line information names files without their folder."""
    if kernel.entry in WITH_LINES:
        return kernel.text.replace(f"{FOLDER}/", "")
    body = kernel.text.partition("\n.file ")[0]
    return "".join(f"{line}\n" for line in body.splitlines() if not line.lstrip().startswith(".loc "))


def files() -> dict[str, str]:
    """Return the PTX files of this folder by name."""
    found = {f"{kernel.entry}.ptx": text_of(kernel) for kernel in KERNELS}
    return found | {f"{each.name}.ptx": each.ptx for each in SCENARIOS if each.fault}


if __name__ == "__main__":
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8")

"""Instructions that MMA-Sim models, and its outputs.

The package `mmasim` (PyPI) requires PyTorch and a C++ compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

from warploom.diagnostics import UsageError
from warploom_lab.arithmetic.cases import Array, Case, Inputs, case, with_one_nan

Peer = Callable[[Inputs], Array]
"""Function that returns the words of D, as `cases.outputs` does. Shapes: (G, M, N)."""

_ARCHITECTURES = {
    "Volta": "sm_70", "Turing": "sm_75", "Ampere": "sm_80", "Ada Lovelace": "sm_89", "Hopper": "sm_90a",
    "Blackwell": "sm_100a", "RTX Blackwell": "sm_120a",
}  # fmt: skip
"""Architectures by MMA-Sim's names."""

_WORDS = {1: np.uint8, 2: np.int16, 4: np.int32, 8: np.int64}


def release() -> str:
    """Return the release of MMA-Sim. Errors: UsageError if it is not installed."""
    for package in ("torch", "mmasim"):
        if find_spec(package) is None:
            raise UsageError(
                f"the Python package {package} is not installed",
                hint="install mmasim and PyTorch: pip install mmasim torch",
            )
    return version("mmasim")


def modelled() -> Iterator[tuple[Case, Peer]]:
    """Yield each instruction that MMA-Sim models, on each architecture, with MMA-Sim's function.

    Instructions of `wgmma`, which the campaign on an H200 covers, are left out. Of the shapes of `tcgen05.mma`, which
    differ in M and N only, the smallest is chosen.
    """
    isa, sim = import_module("mmasim.nv_ptx.isa_mma"), import_module("mmasim.nv_ptx.sim")
    tensor = import_module("mmasim.nv_ptx.isa_tcgen05mma")
    for table, operation in (
        (isa.mma_shape_and_type, sim.MMA), (isa.mma_block_scale_shape_and_type, sim.MMABlockScale)
    ):  # fmt: skip
        for name, texts in table.items():
            for text in texts:
                found = case(_ARCHITECTURES[name], _opcode(text))
                if found is not None:
                    yield found, _peer(found, operation(name, text))
    for table, operation, smallest in (
        (tensor.tcgen05mma_shape_and_type, sim.TCGen05MMA, "m64n8k"),
        (tensor.tcgen05mma_block_scale_shape_and_type, sim.TCGen05MMABlockScale, "m128n8k"),
    ):
        for name, texts in table.items():
            for text in texts:
                if text.startswith(smallest):
                    found = case(_ARCHITECTURES[name], _tensor_opcode(text))
                    assert found is not None
                    yield found, _peer(found, operation(name, text))


def _tensor_opcode(text: str) -> str:
    """Return the name of a text such as "m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"."""
    shape, kind, *words = text.split(".")
    return ".".join(("tcgen05.mma", kind, shape, *words))


def _opcode(text: str) -> str:
    """Return the opcode of a text such as "m16n8k64.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0"."""
    shape, *words = text.split(".")
    for i, word in enumerate(words):
        if word.startswith("block"):
            words[i] = f"block_scale.scale_vec::{int(shape.partition('k')[2]) // int(word[5:])}X"
    return ".".join(("mma.sync.aligned", shape, "row.col", *words))


def _peer(case: Case, operation: Any) -> Peer:
    torch: Any = import_module("torch")

    def tensor(words: Array, kind: Any, element: str) -> Any:
        if kind == torch.uint8:
            codes = words.view(np.uint8)
            if element == "e2m1":
                # The operation for K = 64 expects two elements in a byte, the others expect bits 2 to 5 of a byte.
                codes = codes[..., ::2] << 4 | codes[..., 1::2] if case.k == 64 else codes << 2
            return torch.from_numpy(codes.copy())
        return torch.from_numpy(words.view(_WORDS[words.itemsize]).copy()).view(kind)

    def compute(given: Inputs) -> Array:
        rows = {"a": operation.a_type, "scale_a": getattr(operation, "s_type", None)}
        columns = {"b": operation.b_type, "scale_b": getattr(operation, "s_type", None)}
        model = case.model
        elements = {"a": model.a_type, "b": model.b_type}
        left = [
            tensor(given[x], kind, elements.get(x, ""))[:, :, None].expand(-1, -1, case.n, -1).contiguous()
            for x, kind in rows.items() if x in given
        ]  # fmt: skip
        right = [
            tensor(given[x], kind, elements.get(x, ""))[:, None].expand(-1, case.m, -1, -1).contiguous()
            for x, kind in columns.items() if x in given
        ]  # fmt: skip
        c = tensor(given["c"], operation.c_type, model.c_type)
        d = operation.dpa(left[0], right[0], c, *left[1:], *right[1:]).contiguous()
        return with_one_nan(d.view(getattr(torch, f"int{8 * d.element_size()}")).numpy())

    return compute

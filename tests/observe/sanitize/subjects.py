"""What is mutated: the handwritten kernels, and compiler-made kernels of the corpus on small problems."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from observe.sanitize.launches import LAUNCHES, Array, Launch
from runtime import kernels
from runtime.kernels import INDEX, Problem, tensors

import warploom as wl
from warploom.ptx import Module
from warploom.runtime.api import Run


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel with one launch. `run` says whether the launch left what it should, bit for bit."""

    name: str
    real: bool  # a compiler made it
    module: Callable[[], Module]
    entry: str | None
    run: Callable[..., tuple[Run, bool]]


def _handwritten(launch: Launch) -> Subject:
    def run(module: Module, **options: Any) -> tuple[Run, bool]:
        return launch.run(module, **options)

    return Subject(launch.name, False, lambda: wl.parse(launch.text, launch.file), None, run)


# Steps along K: enough for every stage to be filled again.
_TENSOR_STEPS = {
    "gemm_f16_tma_hostdesc_sm90": 5,
    "gemm_f16_tma_devdesc_sm90": 5,
    "gemm_f16_tma_persistent_ws0_sm90": 5,
    "gluon_gemm_f16_tma_pipelined_sm90": 4,
    "gluon_gemm_f16_ws_128x128_sm90": 7,
}
_OTHERS = (
    "gluon_wgmma_rs_bf16_64x64x32_sm90", "gluon_wgmma_ss_f16_64x64x64_sm90", "gluon_wgmma_ss_f16_64x8x64_sm90",
    "gemm_f16_nn_16x16_1w_sm80", "gemm_f16_nn_sm80", "gemm_f16_nn_sm90", "gemm_bf16_tn_sm90", "gemm_tf32_tn_sm80",
    "flash_fwd_f16_d64_full_sm80", "flash_fwd_f16_d128_causal_sm90", "softmax_bf16_sm90",
)  # fmt: skip


def _corpus(name: str) -> Subject:
    file = f"{name}.ptx"
    entry = INDEX[file]

    def problem() -> Problem:
        if name in _TENSOR_STEPS:
            return tensors(entry, np.random.default_rng([7, len(name)]), (1, 1), _TENSOR_STEPS[name])
        made = kernels.make(file, 0)
        made.grid = (1,) if len(made.grid) == 1 else (1, 1)  # one CTA: its part of the result is compared
        return made

    right: list[Array] = []

    def run(module: Module, **options: Any) -> tuple[Run, bool]:
        if not right:
            first = problem()
            _launch(kernels.module(file), first)
            right.append(first.outside)
        again = problem()
        done = _launch(module, again, **options)
        return done, again.outside.tobytes() == right[0].tobytes()

    def _launch(module: Module, made: Problem, **options: Any) -> Run:
        block, shared = entry["block"], entry["shared"]
        return wl.launch(module, grid=made.grid, block=block, shared=shared, args=made.args, **options)

    return Subject(name, True, lambda: kernels.module(file), None, run)


_SMALL: dict[str, tuple[int, int, Callable[[], list[object]]]] = {
    "dsmem_ring": (4, 128, lambda: [np.zeros((1, 4, 128), np.uint32)]),
    "bulk_copy": (1, 128, lambda: [np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32), 4096]),
    "bulk_red_add_f32": (2, 256, lambda: [np.ones((2, 256), np.float32), np.ones(256, np.float32)]),
    "remote_arrive": (2, 32, lambda: [np.zeros((1, 2, 32), np.uint32)]),
}


def _small(entry: str) -> Subject:
    file = "cluster_tma_sm90a.ptx"
    grid, block, make = _SMALL[entry]

    def launched(module: Module, **options: Any) -> tuple[Run, list[Array]]:
        args = make()
        done = wl.launch(module, entry, grid=grid, block=block, args=args, **options)
        return done, [arg for arg in args if isinstance(arg, np.ndarray)]

    right: list[list[Array]] = []

    def run(module: Module, **options: Any) -> tuple[Run, bool]:
        if not right:
            right.append(launched(kernels.module(file))[1])
        done, found = launched(module, **options)
        return done, all(one.tobytes() == other.tobytes() for one, other in zip(found, right[0], strict=True))

    return Subject(entry, True, lambda: kernels.module(file), entry, run)


SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        *(_handwritten(launch) for launch in LAUNCHES.values() if "bugs" not in launch.file),
        *(_small(entry) for entry in _SMALL),
        *(_corpus(name) for name in (*_TENSOR_STEPS, *_OTHERS)),
    )
}

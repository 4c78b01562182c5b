"""`warploom-lab compare tcgen05`: compare multiplications in tensor memory with their numeric models."""

from __future__ import annotations

import argparse

from warploom.diagnostics import UsageError
from warploom_lab.cli.status import DIFFERENT, OK, SHOWN, counting

_TARGETS = ("sm_100", "sm_103", "sm_110")
_EMULATED = 20
"""Largest number of cases without a GPU, unless --cases is smaller."""


def run(options: argparse.Namespace) -> int:
    """Compare every kind and type of `tcgen05.mma`. Return the exit status.

    A GPU with tensor memory executes the kernels. Without such a GPU, the emulator executes a few cases.

    Errors: UsageError compare.option, emulator.*; the errors of a launch on a GPU.
    """
    from warploom_lab.arithmetic.cases import ALL_KINDS
    from warploom_lab.campaign.tensor_memory import tensor_experiments

    if options.record is not None or options.against is not None or options.checkpoint is not None:
        raise UsageError(
            "compare tcgen05 writes and reads no files; expected no --record, --against or --checkpoint",
            code="compare.option",
        )
    device, name = _device()
    cases = options.cases if device == "cuda" else min(options.cases, _EMULATED)
    share = -(-cases // len(ALL_KINDS))
    experiments = list(tensor_experiments())[:: options.every]
    print(f"{name}, {len(experiments)} instructions, {share * len(ALL_KINDS)} executions of each", flush=True)
    wrong: list[str] = []
    outputs = different = 0
    with counting("instructions", len(experiments)) as tell:
        for done, experiment in enumerate(experiments, 1):
            for kind in ALL_KINDS:
                found, count = experiment.different(kind, options.seed, share, device)
                outputs, different = outputs + count, different + found
                if found:
                    wrong.append(f"{experiment.name}, operands {kind!r}: {found} of {count} outputs")
            tell(done)
    for line in wrong[:SHOWN]:
        print(line)
    print(f"{different:,} of {outputs:,} outputs differ from the numeric models")
    return DIFFERENT if different else OK


def _device() -> tuple[str, str]:
    """Return the device that executes the kernels, "cuda" or "cpu", and a phrase about it."""
    from warploom.gpu import Gpu

    try:
        with Gpu() as gpu:
            if gpu.arch.startswith(_TARGETS):
                return "cuda", f"{gpu.name} ({gpu.arch})"
            reason = f"the GPU, {gpu.name}, is {gpu.arch}"
    except UsageError as error:
        reason = str(error)
    return "cpu", f"the emulator, because no GPU with tensor memory is here ({reason})"

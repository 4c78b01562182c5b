"""One instruction, many inputs: made from a seed, run on a GPU and on the abstract machine, and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warploom.runtime.api import launch
from warploom_lab.campaign import patterns

Array = NDArray[Any]
Arrays = dict[str, Array]


@dataclass(frozen=True, slots=True)
class Operand:
    """An array of an experiment: what each thread (or, of `memory`, each case) has of it.

    `make` gives a case's values from a kind, by number, and random bits. Shapes: (cases, *shape).
    """

    dtype: str
    shape: tuple[int, ...]
    draws: tuple[int, ...] = ()
    make: Callable[[str, patterns.Raw], Array] | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """An instruction in its kernel. A case is what one warp, or one warpgroup, does with its inputs.

    `inputs` and `outputs` name the arrays in the order of the kernel's parameters, `memory` among both where
    an instruction writes shared memory.
    """

    form: str
    instruction: str
    kernel: str
    operands: Mapping[str, Operand]
    outputs: tuple[str, ...]
    threads: int = 32
    cases_of_block: int = 1
    shared: int = 0

    @property
    def family(self) -> str:
        """The family of its form."""
        return self.form.partition(".")[0]

    def make(self, cases: int, seed: int) -> Arrays:
        """Inputs of `cases` cases, kind by kind, and empty outputs. The same on every machine."""
        arrays: Arrays = {}
        for number, (name, operand) in enumerate(self.operands.items()):
            array = np.zeros((cases, *operand.shape), operand.dtype)
            if operand.make is not None:
                for k, kind in enumerate(patterns.KINDS):
                    chosen = array[k :: len(patterns.KINDS)]
                    extents = (len(chosen), *operand.draws)
                    own = int.from_bytes(
                        blake2b(f"{self.instruction} {seed} {number} {k}".encode(), digest_size=8).digest()
                    )
                    raw = patterns.draw(own, int(np.prod(extents))).reshape(extents)
                    chosen[...] = operand.make(kind, raw)
            arrays[name] = array
        return arrays

    def run(self, arrays: Arrays, device: str, workers: int = 1) -> Arrays:
        """The outputs on a device: "cpu" or "cuda"."""
        given = {name: array.copy() for name, array in arrays.items()}
        cases = len(next(iter(given.values())))
        launch(
            self.kernel,
            grid=cases // self.cases_of_block,
            block=self.threads * self.cases_of_block,
            args=list(given.values()),
            shared=self.shared,
            arch="sm_90a",
            device="cuda" if device == "cuda" else "cpu",
            workers=workers,
        )
        return {name: given[name] for name in self.outputs}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first output that differs: where it is, and what it is on either."""

    case: int
    kind: str
    output: str
    thread: int
    register: int
    real: int
    modelled: int
    width: int

    def __str__(self) -> str:
        digits = self.width // 4
        where = (
            f"thread {self.thread}, register {self.register}" if self.thread >= 0 else f"byte {self.register}"
        )
        return (
            f"case {self.case} ({self.kind}), {self.output}, {where}:"
            f" the GPU has 0x{self.real:0{digits}x}, the machine 0x{self.modelled:0{digits}x}"
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison of one experiment found."""

    form: str
    instruction: str
    cases: int
    outputs: int
    mismatches: int
    first: Difference | None = None
    failure: str = ""


def compare(experiment: Experiment, cases: int, seed: int) -> Outcome:
    """Run an experiment on the GPU and on the machine.

    Errors: as `launch`.
    """
    arrays = experiment.make(cases, seed)
    real = experiment.run(arrays, "cuda")
    modelled = experiment.run(arrays, "cpu")
    outputs = sum(array.size for array in real.values())
    mismatches = sum(int((real[name] != modelled[name]).sum()) for name in real)
    first = _first(real, modelled) if mismatches else None
    return Outcome(experiment.form, experiment.instruction, cases, outputs, mismatches, first)


def _first(real: Arrays, modelled: Arrays) -> Difference:
    found: list[Difference] = []
    for name, array in real.items():
        differing = np.argwhere(array != modelled[name])
        if len(differing):
            case, *rest = (int(index) for index in differing[0])
            at = (case, *rest)
            thread, register = (rest[0], rest[1]) if len(rest) == 2 else (-1, rest[0])
            kind = patterns.KINDS[case % len(patterns.KINDS)]
            values = int(array[at]), int(modelled[name][at])
            found.append(Difference(case, kind, name, thread, register, *values, array.itemsize * 8))
    return min(found, key=lambda difference: difference.case)

"""Experiments: one instruction with many random inputs, compared between a GPU and the emulator.

A case is one set of inputs. One warp or one warpgroup executes each case.
"""

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
    """Array that the kernel of an experiment reads or writes.

    `make(kind, raw)` returns the initial values. `kind` is a string of `patterns.KINDS`, and `raw` an array of random
    64-bit integers. If `make` is None, the initial values are zeros.

    Shapes: `shape` is the shape of the array for one case, and `draws` the shape of `raw` for one case. For all cases,
        `raw` is (cases, *draws), and `make` returns (cases, *shape).
    """

    dtype: str
    shape: tuple[int, ...]
    draws: tuple[int, ...] = ()
    make: Callable[[str, patterns.Raw], Array] | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """Kernel around one instruction, with the arrays that it reads and writes.

    `form` is the name of the instruction's Form. `instruction` is its text. `kernel` is the PTX module. `operands`
    has the arrays in the order of the kernel's parameters. `outputs` names the arrays to compare. A CTA executes
    `cases_of_block` cases with `threads` threads each. `shared` is the shared memory of a CTA in bytes.
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
        """Family of the form, which is the first word of its name."""
        return self.form.partition(".")[0]

    def make(self, cases: int, seed: int) -> Arrays:
        """Return the initial arrays by name: random values for inputs, and zeros for outputs."""
        arrays: Arrays = {}
        for number, (name, operand) in enumerate(self.operands.items()):
            array = np.zeros((cases, *operand.shape), operand.dtype)
            if operand.make is not None:
                for k, kind in enumerate(patterns.KINDS):
                    # Consecutive cases have consecutive kinds of input.
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
        """Run the kernel on copies of the arrays. Return the outputs by name.

        `device` is "cpu" for the emulator, or "cuda". `workers` is an argument of `launch` on the emulator.
        """
        copies = {name: array.copy() for name, array in arrays.items()}
        options: dict[str, Any] = {} if device == "cuda" else {"arch": "sm_90a", "workers": workers}
        cases = len(next(iter(copies.values())))
        launch(
            self.kernel,
            grid=cases // self.cases_of_block,
            block=self.threads * self.cases_of_block,
            args=list(copies.values()),
            shared=self.shared,
            device="cuda" if device == "cuda" else "cpu",
            **options,
        )
        return {name: copies[name] for name in self.outputs}


@dataclass(frozen=True, slots=True)
class Difference:
    """First value that differs between the GPU (`real`) and the emulator (`emulated`).

    In shared memory, `thread` is -1 and `register` is a byte offset. `width` is the size of the value in bits.
    """

    case: int
    kind: str
    output: str
    thread: int
    register: int
    real: int
    emulated: int
    width: int

    def __str__(self) -> str:
        digits = self.width // 4
        where = f"thread {self.thread}, register {self.register}" if self.thread >= 0 else f"byte {self.register}"
        return (
            f"case {self.case} ({self.kind}), {self.output}, {where}:"
            f" the GPU has 0x{self.real:0{digits}x}, the emulator 0x{self.emulated:0{digits}x}"
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of the comparison of one experiment on a GPU and on the emulator.

    `outputs` is the number of compared values, and `mismatches` the number of different ones. If the experiment did not
    run, `failure` is the message.
    """

    form: str
    instruction: str
    cases: int
    outputs: int
    mismatches: int
    first: Difference | None = None
    failure: str = ""


def compare(experiment: Experiment, cases: int, seed: int) -> Outcome:
    """Run an experiment with `cases` random inputs on the GPU and the emulator, and compare the outputs.

    Errors: the errors of `launch`.
    """
    arrays = experiment.make(cases, seed)
    real = experiment.run(arrays, "cuda")
    emulated = experiment.run(arrays, "cpu")
    outputs = sum(array.size for array in real.values())
    mismatches = sum(int((real[name] != emulated[name]).sum()) for name in real)
    first = _first(real, emulated) if mismatches else None
    return Outcome(experiment.form, experiment.instruction, cases, outputs, mismatches, first)


def _first(real: Arrays, emulated: Arrays) -> Difference:
    found: list[Difference] = []
    for name, array in real.items():
        differing = np.argwhere(array != emulated[name])
        if len(differing):
            case, *rest = (int(index) for index in differing[0])
            at = (case, *rest)
            thread, register = (rest[0], rest[1]) if len(rest) == 2 else (-1, rest[0])
            kind = patterns.KINDS[case % len(patterns.KINDS)]
            values = int(array[at]), int(emulated[name][at])
            found.append(Difference(case, kind, name, thread, register, *values, array.itemsize * 8))
    return min(found, key=lambda difference: difference.case)

"""A launch on the real machine: arrays to the GPU where they are not there yet, the kernel, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from warploom.diagnostics import Diagnostic, Source, UsageError
from warploom.emulator.program import Program
from warploom.gpu import Gpu, Kernel, encode_tensor_map
from warploom.gpu.arrays import is_foreign_type, number_of
from warploom.gpu.geometry import Extents
from warploom.gpu.streams import current_of
from warploom.isa.model.parameters import Parameter
from warploom.layout import TensorMap
from warploom.runtime.arguments import Buffers, Packed


@dataclass(frozen=True, slots=True)
class Options:
    """What a GPU alone heeds; `launch` says what they are."""

    stream: object = None
    wait: bool = True
    cooperative: bool = False
    programmatic: bool = False
    assembler: Literal["driver", "ptxas"] = "driver"

    def refuse(self) -> None:
        """Refuse what the abstract machine has not. Errors: UsageError launch.device."""
        for asked, what in ((self.stream is not None, "streams"), (self.cooperative, "cooperative launches")):
            if asked:
                raise UsageError(
                    f"the abstract machine has no {what}; expected device='cuda'", code="launch.device"
                )


PLAIN = Options()


def run(
    program: Program,
    args: Sequence[object],
    buffers: Buffers,
    geometry: tuple[Extents, Extents, Extents | None],
    shared: int,
    options: Options,
) -> tuple[Diagnostic, ...]:
    """Run a kernel on the GPU that its arrays are on, or on the first; returns what its assembler remarks.

    Errors: UsageError gpu.*, DeviceFault gpu.fault.
    """
    arrays: list[object] = [value.array if isinstance(value, TensorMap) else value for value in args]
    there: list[Any] = [array for array in arrays if is_foreign_type(type(array))]
    if not options.wait and buffers:
        raise UsageError(
            "a launch with NumPy arrays is waited for, since they are copied back; expected wait=True",
            code="gpu.stream",
            hint="keep the arrays on the GPU",
        )
    grid, block, cluster = geometry
    with Gpu(number_of(there[0]) if there else 0, stream=_stream(there, options)) as gpu:
        source = program.source or Source("<ptx>", str(program.module))  # a module made by program has none
        kernel = _assembled(
            gpu.number, source.name, source.text, program.kernel.name, program.parameters, options.assembler
        )
        launch = kernel.prepare(
            grid=grid,
            block=block,
            cluster=cluster,
            shared=shared,
            cooperative=options.cooperative,
            programmatic=options.programmatic,
        )
        buffers.send(gpu)
        values = [
            value.encode(number, parameter, lambda part: _value(part, buffers))
            if isinstance(value, Packed)
            else _value(value, buffers)
            for number, (parameter, value) in enumerate(zip(program.parameters, args, strict=True))
        ]
        launch(*values, stream=gpu.stream)
        if options.wait:
            gpu.wait(kernel.name)
        buffers.fetch(gpu)
    return kernel.findings


@lru_cache(maxsize=64)
def _assembled(
    number: int,
    file: str,
    text: str,
    name: str,
    parameters: tuple[Parameter, ...],
    assembler: Literal["driver", "ptxas"],
) -> Kernel:
    """A kernel of a GPU; the last few stay loaded, for a kernel is seldom launched once."""
    return Gpu(number).kernel(Source(file, text), name, parameters=parameters, assembler=assembler)


def _stream(there: Sequence[Any], options: Options) -> object:
    if options.stream is not None:
        return options.stream
    for array in there:
        current = current_of(type(array))
        if current is not None:
            return current(array)
    return None


def _value(value: object, buffers: Buffers) -> object:
    """What the launch is given for an argument: a NumPy array is where its buffer is."""
    if isinstance(value, TensorMap) and buffers.has(value.array):
        return encode_tensor_map(value.fields(buffers.address(value.array)))
    return buffers.address(value) if buffers.has(value) else value
